/**
 * Removes a database: only its own files, and the directory if nothing else is in it.
 *
 * Invariant: CURRENT is removed last. An interrupted removal leaves a directory that is recognized and can be
 * destroyed again.
 */
import { join } from 'node:path'
import { isTurnLong, nextTurn } from '../engine/event-loop-turn.ts'
import { hasCode, ioError, notSupported } from '../errors.ts'
import { currentName, lockName, parseFileName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { acquireLock } from '../fs/lock.ts'
import { sparing } from '../fs/sparing-file-system.ts'
import { hasSystemCode } from '../fs/system-error.ts'
import { recogniseDirectory } from './recognise.ts'
import { lostFileName, lostName } from './repair/lost-files.ts'

/**
 * Does nothing if the directory does not exist.
 * @throws LEVEL_LOCKED while another instance has it open; LEVEL_NOT_SUPPORTED for a directory that is not petaldb's,
 * which is left untouched; LEVEL_IO_ERROR
 */
export async function destroyStore(location: string, given: FileSystem): Promise<void> {
  const fileSystem = sparing(given)
  try {
    const contents = recogniseDirectory(fileSystem, location)
    if (contents.kind === 'missing') return
    if (contents.kind === 'foreign') {
      throw notSupported(`${location} is not a petaldb database (it is ${contents.found}): nothing was removed`)
    }
    const lock = acquireLock(fileSystem, location)
    try {
      await removeFiles(fileSystem, location)
    } finally {
      lock.release()
    }
    removeIfEmpty(fileSystem, location)
  } catch (error) {
    const isOurs = ['LEVEL_LOCKED', 'LEVEL_NOT_SUPPORTED', 'LEVEL_IO_ERROR'].some((code) => hasCode(error, code))
    throw isOurs ? error : ioError(`Cannot destroy ${location}`, error, { path: location })
  }
}

async function removeFiles(fileSystem: FileSystem, directory: string): Promise<void> {
  const names = fileSystem.list(directory)
  if (names.includes(lostName)) await removeLost(fileSystem, join(directory, lostName))
  const isKept = (name: string) => name === currentName || name === lockName
  for (const name of names) {
    if (parseFileName(name) !== undefined && !isKept(name)) fileSystem.remove(join(directory, name))
    if (isTurnLong()) await nextTurn()
  }
  if (names.includes(currentName)) fileSystem.remove(join(directory, currentName))
}

/** Removes the files that repair has put aside. */
async function removeLost(fileSystem: FileSystem, directory: string): Promise<void> {
  let names: string[]
  try {
    names = fileSystem.list(directory)
  } catch (error) {
    // A file of this name is not ours.
    if (hasSystemCode(error, 'ENOTDIR')) return
    throw error
  }
  for (const name of names) {
    if (lostFileName(name) !== undefined) fileSystem.remove(join(directory, name))
    if (isTurnLong()) await nextTurn()
  }
  removeIfEmpty(fileSystem, directory)
}

function removeIfEmpty(fileSystem: FileSystem, directory: string): void {
  try {
    fileSystem.removeDirectory(directory)
  } catch (error) {
    // Foreign files, or a database that was created in the meantime.
    if (!hasSystemCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error
  }
}
