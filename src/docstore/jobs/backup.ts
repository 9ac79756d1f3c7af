/**
 * Copies a database as of one moment into a new directory. LsmLevel does so natively, with its tables as they are; of
 * any other store, every entry is read through a snapshot.
 *
 * Invariants:
 * 1. The moment is that of the call: nothing is awaited before the state is captured.
 * 2. The directory gets its name only once it is complete and durable.
 */
import type { AbstractSnapshot } from 'abstract-level'
import type { FileSystem } from '../../lsm/fs/file-system.ts'
import { throwIfAborted } from '../../model/errors.ts'
import type { Collections } from '../collections.ts'
import type { Known } from '../known-options.ts'
import type { Store, StoreName } from '../options.ts'
import { assertPath } from '../store/location.ts'
import { createStore } from '../store/open-store.ts'
import { fillNewDirectory, newDirectoryFailed } from './new-directory.ts'
import { ProgressReporter } from './progress-reporter.ts'

/** Options of Database.backup(). */
export interface BackupOptions {
  /** Aborts the backup with an AbortedError and removes what was copied. */
  readonly signal?: AbortSignal | undefined
  /** Called from time to time. */
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined
}

export const knownBackupOptions = { signal: true, onProgress: true } satisfies Known<BackupOptions>

/** Progress of a backup. */
export interface BackupProgress {
  /** Bytes copied so far. */
  readonly bytes: number
  /** undefined if the store cannot tell. */
  readonly totalBytes: number | undefined
}

/** Result of Database.backup(). */
export interface BackupResult {
  /** Size of the copied tables for the LSM store, of keys and values for others. */
  readonly bytes: number
  /** The part of `bytes` that takes no extra space because the copy and the original are the same file. */
  readonly linkedBytes: number
}

/**
 * @throws PetalError DatabaseExists if the location is taken, BadValue; StoreFailure, DataCorruption; AbortedError;
 *   errors thrown by `onProgress`
 */
export async function backupDatabase(
  { store, storeName }: Collections,
  location: string,
  options: BackupOptions
): Promise<BackupResult> {
  assertPath('backup()', location)
  const { signal, onProgress } = options
  throwIfAborted(signal)
  const reporter = new ProgressReporter(onProgress)
  const job = { ...(signal && { signal }), ...(reporter.report && { onProgress: reporter.report }) }
  try {
    if (hasBackup(store)) {
      const { bytes, linkedBytes } = await store.backup(location, { ...job, finish: markAs('lsm') })
      return { bytes, linkedBytes }
    }
    // An in-memory database is copied to a store that persists it.
    const kept = storeName === 'level' ? 'level' : 'lsm'
    return await copyEntries(store, store.snapshot(), kept, location, job)
  } catch (error) {
    throw reporter.failure(() => newDirectoryFailed(location, signal, error))
  }
}

/** Implemented by LsmLevel. */
interface BackedUpStore {
  backup(
    location: string,
    options: BackupOptions & {
      readonly finish: (directory: string, fileSystem: FileSystem) => Promise<void>
    }
  ): Promise<BackupResult>
}

function hasBackup(store: Store): store is Store & BackedUpStore {
  return store.supports.additionalMethods?.backup === true
}

function markAs(store: StoreName): (directory: string, fileSystem: FileSystem) => Promise<void> {
  return async (directory, fileSystem) => {
    const { writeMarker: putMarker } = await import('../../lsm/fs/directory.ts')
    await putMarker(fileSystem, directory, { store })
  }
}

/** Limits of a batch that is read and written at once. */
const maxEntries = 1000
const maxBatchBytes = 1024 * 1024

const asBytes = { keyEncoding: 'view', valueEncoding: 'view' } as const

/** Also closes the snapshot. */
async function copyEntries(
  store: Store,
  snapshot: AbstractSnapshot,
  kept: StoreName,
  location: string,
  { signal, onProgress }: BackupOptions
): Promise<BackupResult> {
  try {
    const bytes = await fillNewDirectory(location, signal, async (directory) => {
      const target = await createStore(kept, directory, {})
      let copied = 0
      try {
        await target.open()
        for await (const batch of batches(store, snapshot)) {
          throwIfAborted(signal)
          await target.batch(batch.map(({ key, value }) => ({ type: 'put' as const, key, value, ...asBytes })))
          copied += batch.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
          onProgress?.({ bytes: copied, totalBytes: undefined })
        }
      } finally {
        await target.close()
      }
      const { nodeFileSystem } = await import('../../lsm/fs/node-file-system.ts')
      await markAs(kept)(directory, nodeFileSystem)
      return copied
    })
    return { bytes, linkedBytes: 0 }
  } finally {
    await snapshot.close()
  }
}

interface Entry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

async function* batches(store: Store, snapshot: AbstractSnapshot): AsyncGenerator<readonly Entry[], void> {
  let batch: Entry[] = []
  let bytes = 0
  for await (const [key, value] of store.iterator<Uint8Array, Uint8Array>({ ...asBytes, snapshot })) {
    batch.push({ key, value })
    bytes += key.length + value.length
    if (batch.length < maxEntries && bytes < maxBatchBytes) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}
