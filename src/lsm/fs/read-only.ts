/**
 * The directory of a store that is only read. Opening a store writes: a log, a manifest, and tables of what the logs of one
 * that was not closed hold. For a reader all of that is kept in memory.
 *
 * Invariants:
 * 1. Nothing in the directory is changed but its LOCK, and that not either where there is no room for it or no right.
 * 2. Whoever else on this machine has the store open, to write or to read, is seen even where no LOCK can be written.
 */
import type { FileSystem } from './file-system.ts'
import { acquireLock, assertUnlocked, type Lock } from './lock.ts'
import { OverlayFileSystem } from './overlay-file-system.ts'
import { hasSystemCode } from './system-error.ts'

const noRoom = ['ENOSPC', 'EDQUOT']
const cannotWrite = ['EROFS', 'EACCES', 'EPERM', ...noRoom]

export interface ReadOnlyDirectory {
  /** The store is to be opened through it. */
  readonly fileSystem: FileSystem
  /** Gives up the lock; the store is closed by then. Fine when called twice. */
  release(): void
}

/**
 * @param directory must exist
 * @throws LEVEL_LOCKED, LEVEL_IO_ERROR
 */
export function openReadOnly(below: FileSystem, directory: string): ReadOnlyDirectory {
  const lock = lockIfPossible(below, directory)
  return { fileSystem: new OverlayFileSystem(below, directory), release: () => lock?.release() }
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

/** The system's code where there was no room to write, however deep in the causes it stands. */
export function noRoomCode(error: unknown): string | undefined {
  return codeAmong(error, noRoom)
}

function codeAmong(error: unknown, codes: readonly string[]): string | undefined {
  if (!(error instanceof Error)) return undefined
  return hasSystemCode(error, ...codes) ? (error as NodeJS.ErrnoException).code : codeAmong(error.cause, codes)
}
