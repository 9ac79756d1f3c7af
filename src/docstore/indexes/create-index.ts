/**
 * Builds and drops declared indexes, while reads and writes continue.
 *
 * Invariants:
 * 1. Every write decided after the index was added to the collection maintains it. Older documents are indexed in
 *    slices, each read and written with no other write in flight, so none is missed, and none that was deleted
 *    meanwhile comes back.
 * 2. The catalog entry is written last. A build that ends earlier leaves entries that nobody reads, and that the
 *    catalog remembers to delete.
 * 3. A write is never rejected because of an index that does not exist yet: the build fails instead.
 */
import { PetalError, throwIfAborted } from '../../model/errors.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import { callOnAbort } from '../call-on-abort.ts'
import { commitFailed } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { Catalog } from '../store/catalog.ts'
import { DeclaredIndex } from './declared-index.ts'
import {
  type CreateIndexesOptions,
  type CreateIndexOptions,
  checkIndex,
  hasSameFields,
  type IndexDefinition,
  type IndexToCreate
} from './definition.ts'
import { EntryWrites } from './entry-writes.ts'
import { indexConflict, indexNotFound } from './errors.ts'
import { readFields } from './read-fields.ts'

/** Ordinals processed while other writes wait. */
const sliceOrdinals = 512

/**
 * Builds an index, unless it is that of `_id`, which is there. If another call is already building it, waits for that call, and builds it only if that fails.
 * @returns the name of the index
 */
export async function createIndex(
  collection: OpenCollection,
  catalog: Catalog,
  spec: unknown,
  options: CreateIndexOptions
): Promise<string> {
  const wanted = checkIndex(spec, options)
  const { ids } = collection.declared
  if (ids !== undefined && hasSameFields(ids.definition.fields, wanted.fields)) return ids.definition.name
  for (;;) {
    throwIfAborted(options.signal)
    const { index, added } = await collection.writer.exclusive(() => findOrAdd(collection, catalog, wanted))
    if (added !== undefined) {
      await build(collection, catalog, index, added.total, options).finally(added.end)
      return wanted.name
    }
    if (index.isReady) return wanted.name
    await waitForBuild(index, options.signal)
  }
}

/**
 * Builds several indexes, one after the other. REQUIRES: checkIndexes() accepted them
 * @returns their names
 */
export async function createIndexes(
  collection: OpenCollection,
  catalog: Catalog,
  indexes: readonly IndexToCreate[],
  { signal }: CreateIndexesOptions
): Promise<string[]> {
  const names: string[] = []
  for (const { key, ...options } of indexes) {
    names.push(await createIndex(collection, catalog, key, { ...options, ...(signal && { signal }) }))
  }
  return names
}

interface FoundIndex {
  readonly index: DeclaredIndex
  /** For an index to be built: the ordinals to process, and a callback for the end of the build. */
  readonly added?: { readonly total: number; readonly end: () => void }
}

/** REQUIRES: no write in flight. */
async function findOrAdd(
  { name, declared, committer }: OpenCollection,
  catalog: Catalog,
  wanted: Omit<IndexDefinition, 'id'>
): Promise<FoundIndex> {
  const found = findMatching(declared.all, wanted)
  if (found?.isReady || found?.building !== undefined) return { index: found }
  // A failed build that could not be undone.
  if (found !== undefined) declared.remove(found)
  const id = await catalog.reserveDeclared(name)
  const index = new DeclaredIndex({ ...wanted, id }, declared.store.area(id), { isReady: false, arrays: 0 })
  declared.add(index)
  let resolve = (): void => {}
  index.building = new Promise((built) => {
    resolve = built
  })
  const end = (): void => {
    index.building = undefined
    resolve()
  }
  return { index, added: { total: committer.ordinalLimit, end } }
}

/** Resolves when the build of an index has ended, successfully or not, or the signal fires. */
async function waitForBuild({ building }: DeclaredIndex, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return building
  if (signal.aborted) return
  let forget = (): void => {}
  const aborted = new Promise<void>((resolve) => {
    forget = callOnAbort(signal, resolve)
  })
  await Promise.race([building, aborted])
  forget()
}

async function build(
  collection: OpenCollection,
  catalog: Catalog,
  index: DeclaredIndex,
  total: number,
  options: CreateIndexOptions
): Promise<void> {
  const { writer, store } = collection
  try {
    for (let from = 0; from < total; ) {
      throwIfAborted(options.signal)
      // With computed ordinals, most ordinals may have no document.
      const to = store.ids === undefined ? Math.min(total, from + sliceOrdinals) : total
      from = await writer.exclusive(() => buildSlice(collection, index, from, to))
      options.onProgress?.({ done: from, total })
    }
    await writer.exclusive(async () => {
      assertFeasible(index)
      await catalog.addDeclared(collection.name, index.definition)
      index.isReady = true
      collection.expiry?.noteIndexes()
    })
  } catch (error) {
    await rollBack(collection, catalog, index)
    throw error
  }
}

/** @param spec name or key pattern of the index */
export async function dropIndex(collection: OpenCollection, catalog: Catalog, spec: unknown): Promise<void> {
  await drop(collection, catalog, () => {
    const found = collection.declared.find(spec)
    if (found === undefined) throw indexNotFound(spec)
    return [found]
  })
}

/** Drops all indexes, except those that are still being built. */
export async function dropIndexes(collection: OpenCollection, catalog: Catalog): Promise<void> {
  await drop(collection, catalog, () => collection.declared.ready)
}

/** @param choose selects the indexes, called in the write queue */
async function drop(
  collection: OpenCollection,
  catalog: Catalog,
  choose: () => readonly DeclaredIndex[]
): Promise<void> {
  const { name, declared, writer, expiry } = collection
  const dropped = await writer.exclusive(async () => {
    const chosen = choose()
    try {
      for (const index of chosen) {
        await catalog.dropDeclared(name, index.definition.id)
        declared.remove(index)
      }
    } finally {
      expiry?.noteIndexes()
    }
    return chosen
  })
  for (const index of dropped) await clear(catalog, collection, index)
}

/** Returns the requested index if it exists or is being built. @throws PetalError for a conflicting index */
function findMatching(
  indexes: readonly DeclaredIndex[],
  wanted: Omit<IndexDefinition, 'id'>
): DeclaredIndex | undefined {
  for (const index of indexes) {
    const { definition } = index
    const isSame = hasSameFields(definition.fields, wanted.fields)
    const isNamesake = definition.name === wanted.name
    if (!isSame && !isNamesake) continue
    if (!isSame) {
      const what = `The index '${wanted.name}' already exists with different fields`
      throw indexConflict('IndexKeySpecsConflict', what)
    }
    const isAlike =
      definition.unique === wanted.unique &&
      definition.sparse === wanted.sparse &&
      definition.expireAfterSeconds === wanted.expireAfterSeconds
    if (!isNamesake || !isAlike) {
      const what = `An index with the same fields already exists: '${definition.name}', with a different name or different options`
      throw indexConflict('IndexOptionsConflict', what)
    }
    return index
  }
  return undefined
}

/** REQUIRES: no write in flight. @returns the ordinal to continue with */
async function buildSlice(collection: OpenCollection, index: DeclaredIndex, from: number, to: number): Promise<number> {
  assertFeasible(index)
  const { store, declared } = collection
  const writes = new EntryWrites(collection.name, declared.store, [index], undefined)
  const batch = store.newBatch()
  let next = to
  let documents = 0
  const timeSlice = new TimeSlice()
  const paths = new Set(index.definition.fields.map(({ path }) => path))
  for await (const run of readFields(store, paths, from, to)) {
    for (const { ordinal, document } of run) {
      if (documents === sliceOrdinals) {
        next = ordinal
        break
      }
      documents++
      if (writes.needsLoad) await writes.load([document])
      writes.put(batch, writes.admit(document, ordinal), ordinal)
      assertFeasible(index)
      if (timeSlice.isOver()) await timeSlice.renew()
    }
    if (next < to) break
  }
  await store.commit(batch)
  return next
}

function assertFeasible({ failure }: DeclaredIndex): void {
  if (failure !== undefined) throw failure
}

/** Removes the index. If the collection was closed meanwhile, the next open deletes its entries. */
async function rollBack(collection: OpenCollection, catalog: Catalog, index: DeclaredIndex): Promise<void> {
  const { declared, writer } = collection
  try {
    await writer.exclusive(async () => declared.remove(index))
    await clear(catalog, collection, index)
  } catch (error) {
    // Report why the build failed, rather than that its remains could not be deleted.
    if (!(error instanceof PetalError)) throw error
  }
}

async function clear(catalog: Catalog, { declared }: OpenCollection, index: DeclaredIndex): Promise<void> {
  const { store } = declared
  try {
    await store.clear(index.area)
  } catch (error) {
    throw commitFailed(error)
  }
  await catalog.finishClearing({ number: store.collection, id: index.definition.id })
}
