/**
 * Copies a database as it is at one moment into a new directory. LsmLevel does it by itself, with its tables as they are;
 * of any other store every entry is read through a snapshot.
 *
 * Invariants:
 * 1. The moment is that of the call: nothing is awaited before it is captured.
 * 2. The directory has its name when it is complete and durable, and not before.
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
import { ToldProgress } from './told-progress.ts'

export interface BackupOptions {
  /** Ends it with an AbortedError, and nothing is left of it. */
  readonly signal?: AbortSignal
  /** Called now and then. */
  readonly onProgress?: (progress: BackupProgress) => void
}

export const knownBackupOptions = { signal: true, onProgress: true } satisfies Known<BackupOptions>

export interface BackupProgress {
  /** Copied so far. */
  readonly bytes: number
  /** Undefined where the store cannot tell. */
  readonly totalBytes: number | undefined
}

export interface BackupResult {
  /** Of tables for the LSM store, of keys and values for others. */
  readonly bytes: number
  /** Those among them that take no room of their own: the copy and the original are the same file. */
  readonly linkedBytes: number
}

/**
 * @throws PetalError DatabaseExists for a location that is taken, BadValue; StoreFailure, DataCorruption; AbortedError; what
 *   `onProgress` throws
 */
export async function backupDatabase(
  { store, storeName }: Collections,
  location: string,
  options: BackupOptions
): Promise<BackupResult> {
  assertPath('backup()', location)
  const { signal, onProgress } = options
  throwIfAborted(signal)
  const told = new ToldProgress(onProgress)
  const job = { ...(signal && { signal }), ...(told.tell && { onProgress: told.tell }) }
  try {
    if (hasBackup(store)) {
      const { bytes, linkedBytes } = await store.backup(location, { ...job, finish: markAs('lsm') })
      return { bytes, linkedBytes }
    }
    // What is in memory only needs a store that keeps it.
    const kept = storeName === 'level' ? 'level' : 'lsm'
    return await copyEntries(store, store.snapshot(), kept, location, job)
  } catch (error) {
    throw told.failure(() => newDirectoryFailed(location, signal, error))
  }
}

/** What LsmLevel has. */
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
    const { putMarker } = await import('../../lsm/fs/directory.ts')
    await putMarker(fileSystem, directory, { store })
  }
}

/** Entries and bytes that are read and written at once. */
const maxEntries = 1000
const maxBatchBytes = 1024 * 1024

const asBytes = { keyEncoding: 'view', valueEncoding: 'view' } as const

/** Closes the snapshot. */
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
