/** Makes the store of a damaged database open again, by means of the engine that made it. */
import { PetalError } from '../../model/errors.ts'
import type { StoreName } from '../options.ts'
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
  /** LevelDB does not tell. */
  readonly lost: readonly LostPart[]
}

/**
 * @param location absolute
 * @throws PetalError DatabaseNotFound, NotADatabase, DBPathInUse, UnsupportedFormat, StoreFailure; nothing was changed then
 */
export async function repairStore(location: string): Promise<RepairedStore> {
  const { claimDirectory, inspectDirectory } = await import('../../lsm/fs/directory.ts')
  const directory = await inspectDirectory(location)
  if (directory.kind === 'foreign') throw notADatabase(location, directory.found)
  if (directory.kind !== 'ours') {
    throw new PetalError('DatabaseNotFound', `There is no database at ${location}`, { details: { location } })
  }
  const release = await claimDirectory(location)
  try {
    if (directory.marker.store === 'level') {
      const { Level } = await import('level')
      await (Level as unknown as { repair(location: string): Promise<void> }).repair(location)
      return { name: 'level', lost: [] }
    }
    const { LsmLevel } = await import('../../lsm/lsm-level.ts')
    const { lost } = await LsmLevel.repair(location)
    return { name: 'lsm', lost }
  } catch (error) {
    throw openFailed(location, error, true)
  } finally {
    release()
  }
}
