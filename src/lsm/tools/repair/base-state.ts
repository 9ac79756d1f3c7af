/**
 * The starting point of a repair: the manifest's state if it can be trusted, otherwise the files alone.
 *
 * Without CURRENT, a manifest is trusted only if it is the only one, and all its tables are present and no later ones:
 * a crash may have left one that was never the current one.
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
  /** Names of files that are damaged or no longer used. */
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
  const current = tryRead(losses, currentPath, () => readCurrent(fileSystem, directory))
  if (current === undefined && !names.includes(currentName)) losses.add(currentPath, 'the file is missing')
  const candidates = current === undefined ? manifests : [current]
  const [number] = candidates
  if (number !== undefined && candidates.length === 1) {
    const manifest = tryRead(losses, join(directory, manifestName(number)), () =>
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

/** Whether the state can be the latest: all of its tables are present, and none created after it. */
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

function tryRead<T>(losses: Losses, path: string, read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    losses.addDamage(path, error)
    return undefined
  }
}
