/** Determines which files of a directory are obsolete when it is opened. Pure policy: the caller lists and deletes. */
import { type ParsedName, parseFileName } from '../fs/file-names.ts'

export interface FilesInUse {
  /** Numbers of the tables that live versions refer to. */
  readonly liveTables: ReadonlySet<number>
  /** The oldest log that recovery has to read, as recorded durably in the manifest. */
  readonly logNumber: number
  /** The current manifest. */
  readonly manifestNumber: number
}

export interface ObsoleteFiles {
  /** Names of files to delete. */
  readonly names: readonly string[]
  /** The newest obsolete log, which may be recycled, see log-files.ts. Not among the names. */
  readonly spareLog: number | undefined
}

/**
 * REQUIRES: nothing is being written, and no manifest write has failed: the manifest's contents would be unknown, and
 * every file would have to stay.
 * @param listing names in the directory
 */
export function obsoleteFiles(listing: readonly string[], inUse: FilesInUse): ObsoleteFiles {
  const names: string[] = []
  let spare: { readonly number: number; readonly name: string } | undefined
  for (const name of listing) {
    const file = parseFileName(name)
    if (file === undefined || !isObsolete(file, inUse)) continue
    if (file.kind !== 'log' || (spare !== undefined && spare.number > file.number)) {
      names.push(name)
      continue
    }
    if (spare !== undefined) names.push(spare.name)
    spare = { number: file.number, name }
  }
  return { names, spareLog: spare?.number }
}

function isObsolete({ kind, number }: ParsedName, inUse: FilesInUse): boolean {
  switch (kind) {
    case 'table':
    case 'side':
      return !inUse.liveTables.has(number)
    case 'log':
      return number < inUse.logNumber
    case 'manifest':
      return number !== inUse.manifestNumber
    case 'temporary':
      // Lock records (number 0) belong to the lock.
      return number > 0
    case 'current':
    case 'lock':
      return false
    default:
      return kind satisfies never
  }
}
