/**
 * The directory of a store opened for reading only: as it is now, whether or not another instance has it open for
 * writing. Opening a store writes a log, a manifest, and, if it was not closed, tables from its logs. For a reader all of
 * that is kept in memory.
 *
 * Invariant: nothing in the directory is changed.
 */
import type { FileSystem } from './file-system.ts'
import { freeze } from './frozen-directory.ts'
import { OverlayFileSystem } from './overlay-file-system.ts'
import { sparing } from './sparing-file-system.ts'
import { hasSystemCode } from './system-error.ts'

const outOfSpace = ['ENOSPC', 'EDQUOT']

export interface ReadOnlyDirectory {
  /** The file system through which to open the store. */
  readonly fileSystem: FileSystem
  /** To be called when the store is open: frees what only opening it reads. */
  onOpen(): void
  /** Closes the files. REQUIRES: the store is closed. May be called twice. */
  release(): void
}

/**
 * @param directory must exist
 * @throws LEVEL_LOCKED if another instance changes its tables without a pause; LEVEL_IO_ERROR
 */
export async function openReadOnly(lower: FileSystem, directory: string): Promise<ReadOnlyDirectory> {
  const frozen = await freeze(sparing(lower), directory)
  return {
    fileSystem: new OverlayFileSystem(frozen, directory),
    onOpen: () => frozen.forgetLogs(),
    release: () => frozen.release()
  }
}

/** The system's error code if there was no space to write, at any depth in the chain of causes. */
export function outOfSpaceCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (hasSystemCode(error, ...outOfSpace)) return (error as NodeJS.ErrnoException).code
  return outOfSpaceCode(error.cause)
}
