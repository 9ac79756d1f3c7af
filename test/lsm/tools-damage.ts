/** Lists, reads and damages the files of a store. */
import type { FileSystem } from '../../src/lsm/fs/file-system.ts'
import { location } from './tools-stores.ts'

export function namesOf(fileSystem: FileSystem, pattern: RegExp, directory = location): string[] {
  return fileSystem
    .list(directory)
    .filter((name) => pattern.test(name))
    .sort()
}

export function readBytes(fileSystem: FileSystem, name: string): Buffer {
  const file = fileSystem.open(`${location}/${name}`, 'read')
  const bytes = Buffer.alloc(file.size())
  file.read(bytes, 0)
  file.close()
  return bytes
}

/** Flips bits of one byte; a negative offset counts from the end. */
export function flip(fileSystem: FileSystem, name: string, offset: number): void {
  const bytes = readBytes(fileSystem, name)
  const at = offset < 0 ? bytes.length + offset : offset
  const file = fileSystem.open(`${location}/${name}`, 'update')
  file.write(Uint8Array.of((bytes[at] ?? 0) ^ 0x55), at)
  file.close()
}

export function truncate(fileSystem: FileSystem, name: string, bytes: number): void {
  const file = fileSystem.open(`${location}/${name}`, 'update')
  file.truncate(bytes)
  file.close()
}
