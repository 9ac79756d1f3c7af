/** Fixes what a path means at the time of a call: a program may change its working directory later. */
import { resolve } from 'node:path'
import type { FileSystem } from './file-system.ts'

/**
 * The absolute path of a location in a file system, by default that of the operating system. One that is private to a
 * thread has names of its own, and no working directory.
 */
export function absoluteLocation(location: string, fileSystem?: FileSystem | undefined): string {
  return fileSystem === undefined || fileSystem.isShared ? resolve(location) : location
}
