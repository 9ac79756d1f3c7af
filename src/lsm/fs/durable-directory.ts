/** Creates directories whose names survive a crash. */
import { dirname } from 'node:path'
import type { FileSystem } from './file-system.ts'
import { hasSystemCode } from './system-error.ts'

/**
 * Creates the directory and its missing parents, and makes all their names durable, including existing ones: their
 * creator may have been interrupted before doing so.
 */
export async function makeDurableDirectory(fileSystem: FileSystem, path: string): Promise<void> {
  const parent = dirname(path)
  if (parent === path) return
  await makeDurableDirectory(fileSystem, parent)
  const isNew = !exists(fileSystem, path)
  if (isNew) fileSystem.makeDirectory(path)
  try {
    await fileSystem.syncDirectory(parent)
  } catch (error) {
    // A parent that we may not even open holds no directory created for us.
    if (isNew || !hasSystemCode(error, 'EACCES', 'EPERM', 'EROFS')) throw error
  }
}

function exists(fileSystem: FileSystem, path: string): boolean {
  try {
    fileSystem.realPath(path)
    return true
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return false
    throw error
  }
}
