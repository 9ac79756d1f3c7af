/**
 * Chooses and opens the store of a database; the only module that knows the storage engines.
 *
 * Invariants:
 * 1. A directory that is not ours is recognised before anything in it is touched.
 * 2. An existing directory is opened by the engine that created it, whatever the options say.
 * 3. A store opened by the caller is not closed here.
 */
import type { Marker } from '../../lsm/fs/directory.ts'
import { type ErrorName, PetalError } from '../../model/errors.ts'
import { shown } from '../../model/invalid-option.ts'
import type { OpenOptions, Store, StoreName } from '../options.ts'
import type { PairFilters } from '../read/table-pruning.ts'
import { hasValueFilters, lsmOptions } from './lsm-store.ts'

export interface OpenedStore {
  readonly store: Store
  /** undefined if the caller opened the store. */
  readonly name: StoreName | undefined
  /** Whether it could have filters with other options. */
  readonly couldHaveFilters: boolean
  /** Value filters over the pairs of documents; undefined if there are none, or if the caller opened the store. */
  readonly filters: PairFilters | undefined
  /** True if the store was opened for reading: writes then go to memory, and are discarded on close. */
  readonly discardsWrites: boolean
  /** Closes what was opened here, and allows the store to be opened again. */
  readonly close: () => Promise<void>
}

const defaultStore: StoreName = 'lsm'

/**
 * Reading every ninth of 100,000 documents (94 MB) by key took 5.5 µs each with LevelDB's default cache of 8 MiB, and
 * 2.7 µs with a cache that holds them all; a larger write buffer produces fewer tables to compact.
 */
const levelOptions = { cacheSize: 128 * 1024 * 1024, writeBufferSize: 16 * 1024 * 1024 }

/** Stores with an open database in this process: abstract-level does not lock them. */
const inUse = new WeakSet<Store>()

/**
 * @param location as placeOf() returns it
 * @param engine of the directory, if its marker is not to be asked
 */
export async function openStore(
  location: string | Store,
  options: OpenOptions,
  engine?: StoreName
): Promise<OpenedStore> {
  const opened = typeof location === 'string' ? await openPath(location, options, engine) : await adopt(location)
  const missing = missingSupport(opened.store)
  if (missing === undefined) return opened
  await opened.close()
  throw new PetalError('CommandNotSupported', `The store does not support ${missing}`)
}

function missingSupport({ supports }: Store): string | undefined {
  if (supports.explicitSnapshots !== true) return 'explicit snapshots, which PetalDB needs for reading'
  if (supports.encodings?.view !== true) return "the encoding 'view', which PetalDB needs for its keys"
  return undefined
}

async function adopt(store: Store): Promise<OpenedStore> {
  if (
    typeof store !== 'object' ||
    store === null ||
    typeof store.batch !== 'function' ||
    store.supports === undefined
  ) {
    const taken = 'the path of a directory, a file: URL or an abstract-level database'
    throw new PetalError('BadValue', `open() takes ${taken}, got ${shown(store)}`)
  }
  if (inUse.has(store)) throw new PetalError('DBPathInUse', 'The store is already in use by an open database')
  inUse.add(store)
  try {
    await store.open()
  } catch (error) {
    inUse.delete(store)
    throw openFailed('The store', error)
  }
  return {
    store,
    name: undefined,
    filters: undefined,
    couldHaveFilters: false,
    discardsWrites: false,
    close: async () => {
      inUse.delete(store)
    }
  }
}

/** @throws PetalError for any failure, including a directory that cannot be created or read */
async function openPath(location: string, options: OpenOptions, engine: StoreName | undefined): Promise<OpenedStore> {
  try {
    return await openLocation(location, options, engine)
  } catch (error) {
    throw error instanceof PetalError ? error : openFailed(location, error, options.readOnly)
  }
}

async function openLocation(
  location: string,
  options: OpenOptions,
  engine: StoreName | undefined
): Promise<OpenedStore> {
  const wanted = checkStore(options.store ?? defaultStore)
  if (wanted === 'memory') {
    const store = await createStore('memory', location, options)
    const close = (): Promise<void> => store.close()
    return { store, name: wanted, filters: undefined, couldHaveFilters: false, discardsWrites: false, close }
  }
  // Imported lazily: where there is no file system, databases are opened over a store.
  const { claimDirectory, createMarker, inspectDirectory } = await import('../../lsm/fs/directory.ts')
  const directory =
    engine === undefined ? await inspectDirectory(location) : ({ kind: 'ours', marker: { store: engine } } as const)
  const createIfMissing = options.createIfMissing ?? true
  const errorIfExists = options.errorIfExists ?? false
  const readOnly = options.readOnly ?? false
  const openMarked = async (marker: Marker): Promise<OpenedStore> => {
    const store = checkStore(marker.store)
    if (store === 'lsm' && readOnly) return openToRead(location, options)
    return openClaimed(store, location, options, await claimDirectory(location))
  }
  switch (directory.kind) {
    case 'foreign':
      throw notADatabase(location, directory.found)
    case 'missing':
    case 'empty':
      if (!createIfMissing || readOnly) {
        const why = readOnly ? 'it is opened read-only' : 'createIfMissing is false'
        throw new PetalError('DatabaseNotFound', `There is no database at ${location}, and ${why}`, {
          details: { location }
        })
      }
      if (wanted === 'lsm') await checkLsm(options)
      // If another process is creating the database right now, the first marker counts, and one of the two openings is
      // rejected.
      return openMarked(await createMarker(location, { store: wanted }).catch(notCreated(location)))
    case 'ours':
      if (errorIfExists) {
        throw new PetalError('DatabaseExists', `A database already exists at ${location}, and errorIfExists is true`, {
          details: { location }
        })
      }
      return openMarked(directory.marker)
  }
}

/** Validates LSM options before a directory is created. @throws TypeError, LEVEL_NOT_SUPPORTED */
async function checkLsm({ lsm }: OpenOptions): Promise<void> {
  const { resolveOptions } = await import('../../lsm/engine/resolve-options.ts')
  resolveOptions(lsmOptions(lsm))
}

async function openClaimed(
  name: StoreName,
  location: string,
  options: OpenOptions,
  release: () => void
): Promise<OpenedStore> {
  try {
    const store = await createStore(name, location, options)
    try {
      await store.open()
    } catch (error) {
      const { unwritableReason } = await import('../../lsm/fs/directory.ts')
      const { outOfSpaceCode: noRoomCode } = await import('../../lsm/fs/read-only.ts')
      const reason = (await unwritableReason(location)) ?? noRoomCode(error)
      throw reason === undefined ? error : unwritable(name, location, reason, error)
    }
    return openedStore(name, store, options, release)
  } catch (error) {
    release()
    throw error
  }
}

/** Opens an LSM store as it is now, beside others that may have it open: whatever opening it writes is kept in memory. */
async function openToRead(location: string, options: OpenOptions): Promise<OpenedStore> {
  const { openReadOnly } = await import('../../lsm/fs/read-only.ts')
  const { nodeFileSystem } = await import('../../lsm/fs/node-file-system.ts')
  const { LsmLevel } = await import('../../lsm/lsm-level.ts')
  const { fileSystem, onOpen, release } = await openReadOnly(nodeFileSystem, location)
  try {
    // Compactions would write to memory.
    const settings = { ...lsmOptions(options.lsm), fileSystem, autoCompaction: false }
    const store = new LsmLevel<unknown, unknown>(location, settings) as unknown as Store
    await store.open()
    onOpen()
    return { ...openedStore('lsm', store, options, release), discardsWrites: true }
  } catch (error) {
    release()
    throw error
  }
}

/** @param release called once the store is closed */
function openedStore(name: StoreName, store: Store, options: OpenOptions, release: () => void): OpenedStore {
  const hasFilters = name === 'lsm' && hasValueFilters(options.lsm)
  return {
    store,
    name,
    filters: hasFilters ? (store as unknown as PairFilters) : undefined,
    couldHaveFilters: name === 'lsm',
    discardsWrites: false,
    close: () => store.close().finally(release)
  }
}

/** For a marker's promise. @throws errors of the system as PetalErrors, others as they are */
function notCreated(location: string): (error: unknown) => never {
  return (error) => {
    const { code: systemCode, syscall } = error as NodeJS.ErrnoException
    if (error instanceof PetalError || syscall === undefined) throw error
    throw new PetalError('StoreFailure', `${location} cannot be created: ${(error as Error).message}`, {
      cause: error,
      details: { location, systemCode }
    })
  }
}

function unwritable(name: StoreName, location: string, reason: string, cause: unknown): PetalError {
  const way =
    name === 'lsm' ? 'open it with { readOnly: true }' : "only databases with store 'lsm' can be opened read-only"
  return new PetalError('StoreFailure', `${location} cannot be opened: it is not writable (${reason}); ${way}`, {
    cause,
    details: { location, systemCode: reason }
  })
}

/** Creates a store without opening it. @param location ignored by `memory` */
export async function createStore(name: StoreName, location: string, options: OpenOptions): Promise<Store> {
  switch (name) {
    case 'lsm': {
      // Not the package index, which would load code that only its users need.
      const { LsmLevel } = await import('../../lsm/lsm-level.ts')
      return new LsmLevel<unknown, unknown>(location, lsmOptions(options.lsm)) as unknown as Store
    }
    case 'level': {
      const { Level } = await import('level')
      return new Level<unknown, unknown>(location, levelOptions) as unknown as Store
    }
    case 'memory': {
      const { MemoryLevel } = await import('memory-level')
      return new MemoryLevel<unknown, unknown>() as unknown as Store
    }
  }
}

function checkStore(name: string): StoreName {
  if (name === 'lsm' || name === 'level' || name === 'memory') return name
  throw new PetalError('BadValue', `store must be 'lsm', 'level' or 'memory', got '${String(name)}'`, {
    details: { option: 'store' }
  })
}

export function notADatabase(location: string, found: string): PetalError {
  const details = { location, found }
  return new PetalError('NotADatabase', `${location} is not a PetalDB database: it is ${found}`, { details })
}

/**
 * The error of a store that cannot be opened, as a PetalError.
 * @param withoutAdvice whether opening it read-only would be of no use
 */
export function openFailed(location: string, error: unknown, withoutAdvice = false): PetalError {
  // abstract-level wraps the engine's error; one that names a file is not wrapped in anything.
  const isWhole = (error as { readonly code?: unknown }).code === 'LEVEL_IO_ERROR'
  const cause = (isWhole ? undefined : (error as { readonly cause?: unknown }).cause) ?? error
  const { code, message, holder } = cause as Readonly<Record<'code' | 'message' | 'holder', unknown>>
  const details = { location }
  if (code === 'LEVEL_LOCKED') {
    // Only LsmLevel names the holder, and only LsmLevel can be read beside one.
    const advice =
      holder === undefined || withoutAdvice ? '' : '; to read it as it is now, open it with { readOnly: true }'
    const inUse = `${location} is in use by ${String(holder ?? 'another process')}`
    return new PetalError('DBPathInUse', `${inUse}${advice}`, {
      cause,
      details: { location, ...(typeof holder === 'string' && { holder }) }
    })
  }
  if (cause instanceof TypeError) return new PetalError('InvalidOptions', String(message), { cause, details })
  return new PetalError(
    errorNames[String(code)] ?? 'StoreFailure',
    `${location} cannot be opened: ${String(message)}`,
    {
      cause,
      details
    }
  )
}

const errorNames: Readonly<Record<string, ErrorName>> = {
  LEVEL_CORRUPTION: 'DataCorruption',
  LEVEL_NOT_SUPPORTED: 'UnsupportedFormat'
}
