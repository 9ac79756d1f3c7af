/** Makes the store of a damaged database open again, by means of the engine that made it. */
import { join } from 'node:path'
import { PetalError, throwIfAborted } from '../../model/errors.ts'
import type { StoreName } from '../options.ts'
import { documentKey } from './document-areas.ts'
import { notADatabase, openFailed } from './open-store.ts'

/** What a repair of a store could not save: a part of a file, as far as that is known. */
export interface LostPart {
  readonly path: string
  readonly offset?: number | undefined
  readonly bytes?: number | undefined
  readonly what: string
}

export interface RepairedStore {
  readonly name: Exclude<StoreName, 'memory'>
  /** LevelDB does not tell: of its files only damaged records of logs are known. */
  readonly lost: readonly LostPart[]
}

/**
 * @param location absolute
 * @throws PetalError DatabaseNotFound, NotADatabase, DBPathInUse, UnsupportedFormat, StoreFailure; AbortedError. Nothing
 *   was changed then
 */
export async function repairStore(location: string, signal?: AbortSignal): Promise<RepairedStore> {
  const { claimDirectory } = await import('../../lsm/fs/directory.ts')
  let release: (() => void) | undefined
  try {
    const { name, lost } = await engineOf(location)
    release = await claimDirectory(location)
    throwIfAborted(signal)
    if (name === 'level') {
      const { Level } = await import('level')
      const { damagedRecords } = await import('../../lsm/fs/level-log-check.ts')
      const damaged = await damagedRecords(location)
      throwIfAborted(signal)
      await (Level as unknown as { repair(location: string): Promise<void> }).repair(location)
      const what = 'a record is damaged; documents in it are saved as they are, or lost'
      return { name, lost: [...lost, ...damaged.map((record) => ({ ...record, what }))] }
    }
    const { LsmLevel } = await import('../../lsm/lsm-level.ts')
    const report = await LsmLevel.repair(location, { signal })
    return { name, lost: [...lost, ...report.lost] }
  } catch (error) {
    throwIfAborted(signal)
    throw error instanceof PetalError ? error : openFailed(location, error, true)
  } finally {
    release?.()
  }
}

/** The engine that a directory's marker names, or whose files hold documents of ours if the marker is lost. */
async function engineOf(location: string): Promise<RepairedStore> {
  const { inspectDirectory, markerName } = await import('../../lsm/fs/directory.ts')
  let damage: PetalError
  try {
    const directory = await inspectDirectory(location)
    if (directory.kind === 'missing' || directory.kind === 'empty') {
      throw new PetalError('DatabaseNotFound', `There is no database at ${location}`, { details: { location } })
    }
    if (directory.kind === 'ours') {
      const { store } = directory.marker
      if (store === 'level' || store === 'lsm') return { name: store, lost: [] }
      damage = notADatabase(location, `one of an unknown store, '${store}'`)
    } else damage = notADatabase(location, directory.found)
  } catch (error) {
    const { codeName } = error as PetalError
    if (codeName !== 'NotADatabase' && codeName !== 'DataCorruption') throw error
    damage = error as PetalError
  }
  const { engineByFiles } = await import('../../lsm/fs/engine-by-files.ts')
  const name = await engineByFiles(location, documentKey)
  if (name === undefined) throw damage
  return { name, lost: [{ path: join(location, markerName), what: 'the file is missing or damaged' }] }
}
