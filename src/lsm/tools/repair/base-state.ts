/**
 * What a repair starts from: the state in the manifest, if it can be relied on, or nothing but the files.
 *
 * Without CURRENT, a manifest is relied on only if it is the only one and knows all tables that are there and none that
 * is not: a crash may have left one that was never the current one.
 */
import { join } from 'node:path'
import { currentName, manifestName, type ParsedName, parseFileName, tableName } from '../../fs/file-names.ts'
import type { FileSystem } from '../../fs/file-system.ts'
import { readCurrent } from '../../version/current-file.ts'
import { readManifest } from '../../version/manifest.ts'
import { emptyState, type ManifestState } from '../../version/manifest-state.ts'
import type { Losses } from './losses.ts'

export interface BaseState {
  readonly source: 'manifest' | 'tables'
  readonly state: ManifestState
  /** Names of files that are damaged or that nothing relies on any more. */
  readonly discarded: readonly string[]
}

/**
 * @param names in the directory
 * @throws LEVEL_NOT_SUPPORTED for a database of a later format, LEVEL_IO_ERROR, Node's own errors
 */
export function readBaseState(
  fileSystem: FileSystem,
  directory: string,
  names: readonly string[],
  losses: Losses
): BaseState {
  const files = names.flatMap((name) => parseFileName(name) ?? [])
  const manifests = files.flatMap(({ kind, number }) => (kind === 'manifest' ? [number] : []))
  const currentPath = join(directory, currentName)
  const current = readable(losses, currentPath, () => readCurrent(fileSystem, directory))
  if (current === undefined && !names.includes(currentName)) losses.add(currentPath, 'the file is missing')
  const candidates = current === undefined ? manifests : [current]
  const [number] = candidates
  if (number !== undefined && candidates.length === 1) {
    const manifest = readable(losses, join(directory, manifestName(number)), () =>
      readManifest(fileSystem, directory, number)
    )
    if (manifest !== undefined && (current !== undefined || isComplete(manifest.state, files, fileSystem, directory))) {
      const discarded = names.includes(currentName) && current === undefined ? [currentName] : []
      return { source: 'manifest', state: manifest.state, discarded }
    }
  }
  const discarded = names.filter((name) => name === currentName || parseFileName(name)?.kind === 'manifest')
  return { source: 'tables', state: emptyState, discarded }
}

/** Whether the state can be the last one: all of its tables are there, and none that came after it. */
function isComplete(
  state: ManifestState,
  files: readonly ParsedName[],
  fileSystem: FileSystem,
  directory: string
): boolean {
  const isThere = state.levels
    .flat()
    .every(({ number, bytes }) => fileSystem.size(join(directory, tableName(number))) === bytes)
  return isThere && files.every(({ kind, number }) => kind !== 'table' || number < state.nextFileNumber)
}

function readable<T>(losses: Losses, path: string, read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    losses.addDamage(path, error)
    return undefined
  }
}
