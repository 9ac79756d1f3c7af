/** Makes directories whose names survive a crash. */
import { dirname } from 'node:path'
import type { FileSystem } from './file-system.ts'
import { hasSystemCode } from './system-error.ts'

/**
 * Makes the directory and those above it that are missing, and all their names durable: whoever made those that exist
 * may have been interrupted before that.
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
    // Where we may not even look nobody made a directory for us.
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
