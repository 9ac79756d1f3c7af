/**
 * The directory of a store opened for reading only. Opening a store writes a log, a manifest, and, if it was not
 * closed, tables from its logs. For a reader all of that is kept in memory.
 *
 * Invariants:
 * 1. Nothing in the directory is changed except its LOCK, and not even that if there is no space or permission.
 * 2. Any other instance on this machine that has the store open, for writing or reading, is detected even if no LOCK
 *    can be written.
 */
import type { FileSystem } from './file-system.ts'
import { acquireLock, assertUnlocked, type Lock } from './lock.ts'
import { OverlayFileSystem } from './overlay-file-system.ts'
import { sparing } from './sparing-file-system.ts'
import { hasSystemCode } from './system-error.ts'

const outOfSpace = ['ENOSPC', 'EDQUOT']
const cannotWrite = ['EROFS', 'EACCES', 'EPERM', ...outOfSpace]

export interface ReadOnlyDirectory {
  /** The file system through which to open the store. */
  readonly fileSystem: FileSystem
  /** Releases the lock. REQUIRES: the store is closed. May be called twice. */
  release(): void
}

/**
 * @param directory must exist
 * @throws LEVEL_LOCKED, LEVEL_IO_ERROR
 */
export function openReadOnly(lower: FileSystem, directory: string): ReadOnlyDirectory {
  const lock = lockIfPossible(lower, directory)
  return { fileSystem: new OverlayFileSystem(sparing(lower), directory), release: () => lock?.release() }
}

function lockIfPossible(fileSystem: FileSystem, directory: string): Lock | undefined {
  try {
    return acquireLock(fileSystem, directory)
  } catch (error) {
    if (codeAmong(error, cannotWrite) === undefined) throw error
    assertUnlocked(fileSystem, directory)
    return undefined
  }
}

/** The system's error code if there was no space to write, at any depth in the chain of causes. */
export function outOfSpaceCode(error: unknown): string | undefined {
  return codeAmong(error, outOfSpace)
}

function codeAmong(error: unknown, codes: readonly string[]): string | undefined {
  if (!(error instanceof Error)) return undefined
  return hasSystemCode(error, ...codes) ? (error as NodeJS.ErrnoException).code : codeAmong(error.cause, codes)
}
