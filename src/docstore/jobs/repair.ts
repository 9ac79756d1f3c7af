/**
 * Saves what can still be read of a damaged database into a new one.
 *
 * Only documents are read, and which collections and declared indexes there are: `_id`s, indexes and counts are derived
 * from documents, and are made anew. A damaged store may have lost any of them.
 *
 * Invariants:
 * 1. The new database appears complete and durable, or not at all.
 * 2. The damaged one keeps everything: damaged files are moved to the directory `lost` inside it.
 */
import { PetalError, throwIfAborted } from '../../model/errors.ts'
import type { Document } from '../../model/types.ts'
import type { Collection } from '../collection.ts'
import type { Database } from '../database.ts'
import { decodeRecord } from '../documents/record.ts'
import { BulkWriteError } from '../errors.ts'
import { idsOf, idsOption } from '../ids/ids-option.ts'
import { describeIndex } from '../indexes/definition.ts'
import type { Known } from '../known-options.ts'
import { assertIndexFor, indexOptions } from '../open-index.ts'
import { assertOptions } from '../option-checks.ts'
import type { IndexKind, Store } from '../options.ts'
import type { Catalog } from '../store/catalog.ts'
import type { CatalogEntry } from '../store/catalog-records.ts'
import { checkNewCollectionName } from '../store/collection-name.ts'
import { documentAreas } from '../store/document-areas.ts'
import { Area, ordinalBytes } from '../store/layout.ts'
import { absolutePath, assertPath } from '../store/location.ts'
import { openCatalog } from '../store/open-catalog.ts'
import { type LostPart, repairStore } from '../store/repair-store.ts'
import { collectionIn, createCopy } from './copy.ts'
import { Findings, type VerifyProblem } from './findings.ts'
import { ProgressReporter } from './progress-reporter.ts'

/** Options of repairDatabase(). */
export interface RepairOptions {
  /**
   * Aborts with an AbortedError; the new directory does not appear. LevelDB's own repair of its files goes on to its end.
   */
  readonly signal?: AbortSignal | undefined
  /** Called from time to time. */
  readonly onProgress?: ((progress: RepairProgress) => void) | undefined
}

const knownRepairOptions = { signal: true, onProgress: true } satisfies Known<RepairOptions>

/** Progress of repairDatabase(). */
export interface RepairProgress {
  /** Name of the collection being saved. */
  readonly collection: string
  /** Documents saved so far, of all collections. */
  readonly documents: number
}

/** Result of repairDatabase(). */
export interface RepairResult {
  /** Collections and documents of the new database. */
  readonly collections: number
  readonly documents: number
  /** What was lost, and what could not be made as it was; at most a thousand. */
  readonly problems: readonly VerifyProblem[]
  /** Number of all problems found, including those beyond the limit of `problems`. */
  readonly problemCount: number
}

const readOptions = { keyEncoding: 'view', valueEncoding: 'utf8', highWaterMarkBytes: 4 * 1024 * 1024 } as const
const documentsAtOnce = 1000
/** Codes of errors of an index's build that are not due to its definition or its documents. */
const otherCodes: readonly string[] = ['Aborted', 'DatabaseNotOpen', 'StoreFailure']

interface Counts {
  readonly collections: number
  readonly documents: number
}

/**
 * Saves what can still be read of a damaged database into a new one of the same engine, with its collections and
 * declared indexes. Of documents with the same `_id`, as a lost table can leave them, the newest one is kept. A
 * collection whose name is lost is called `recovered_1`, or whatever its number is; where other properties of it are lost, it
 * gets the default ones.
 * @param location directory of the damaged database, which nobody may have open. Its store is repaired: damaged files
 *   are moved to the directory `lost` inside it
 * @param target path of a directory that does not exist or is empty: it appears once all is saved and durable
 * @throws PetalError DatabaseNotFound, NotADatabase, DatabaseExists for a target that is taken, DBPathInUse, BadValue,
 *   UnsupportedFormat, StoreFailure; AbortedError
 * @example
 * const { documents, problems } = await repairDatabase('./tweets.db', './saved.db')
 * for (const { collection, what } of problems) console.log(collection ?? 'the store', what)
 */
export async function repairDatabase(
  location: string,
  target: string,
  options: RepairOptions = {}
): Promise<RepairResult> {
  assertPath('repairDatabase()', location)
  assertPath('repairDatabase()', target)
  assertOptions('repairDatabase', options, knownRepairOptions)
  const { signal } = options
  throwIfAborted(signal)
  const [damaged, saved] = await Promise.all([absolutePath(location), absolutePath(target)])
  const reporter = new ProgressReporter(options.onProgress)
  const findings = new Findings()
  const fill: Parameters<typeof createCopy<Counts>>[3] = async (create) => {
    const { name: store, lost } = await repairStore(damaged, signal)
    for (const part of lost) findings.add(undefined, 'lost', textOf(part))
    const onDamage = (what: string): void => findings.add(undefined, 'lost', what)
    const { opened, catalog } = await openCatalog(damaged, { readOnly: true }, { engine: store, onDamage })
    try {
      throwIfAborted(signal)
      const copy = await create({ store, hasFilters: catalog.hasIndex('embedded') })
      const found = await collectionsOf(opened.store, catalog, findings, signal)
      let documents = 0
      for (const [name, entry] of found) {
        const rescue = new Rescue(opened.store, copy, name, entry, findings)
        for await (const count of rescue.run(signal)) {
          reporter.report?.({ collection: name, documents: documents + count })
        }
        documents += rescue.documents
        await rescue.declareIndexes(signal)
      }
      return { collections: found.size, documents }
    } finally {
      await opened.close()
    }
  }
  const result = await createCopy(saved, reporter, signal, fill, damaged)
  return { ...result, problems: findings.problems, problemCount: findings.count }
}

function textOf({ path, offset, bytes, what }: LostPart): string {
  const length = bytes === undefined ? '' : `${bytes} bytes `
  const place = offset === undefined ? '' : ` (${length}at offset ${offset})`
  return `${path}: ${what}${place}`
}

/** All collections, those without a usable name as `recovered_<n>`, but not what is left of dropped ones. */
async function collectionsOf(
  store: Store,
  catalog: Catalog,
  findings: Findings,
  signal: AbortSignal | undefined
): Promise<Map<string, CatalogEntry>> {
  const found = new Map<string, CatalogEntry>()
  const nameless: CatalogEntry[] = []
  for (const name of catalog.names) {
    const entry = catalog.entry(name)!
    try {
      checkNewCollectionName(name)
      found.set(name, entry)
    } catch (error) {
      findings.add(undefined, 'lost', (error as PetalError).message)
      nameless.push(entry)
    }
  }
  const known = new Set([...catalog.dropped(), ...[...found.values(), ...nameless].map(({ number }) => number)])
  for await (const number of documentAreas(store)) {
    throwIfAborted(signal)
    if (!known.has(number)) nameless.push({ number, index: 'sharded' })
  }
  for (const entry of nameless) {
    let name = `recovered_${entry.number}`
    while (found.has(name)) name += '_'
    found.set(name, entry)
  }
  return found
}

/** Saves a collection. */
class Rescue {
  documents = 0
  readonly #store: Store
  readonly #area: Area
  readonly #name: string
  readonly #entry: CatalogEntry
  readonly #target: Collection
  readonly #findings: Findings

  constructor(store: Store, copy: Database, name: string, entry: CatalogEntry, findings: Findings) {
    this.#store = store
    this.#area = new Area(`${entry.number}.docs`)
    this.#name = name
    this.#entry = entry
    this.#findings = findings
    this.#target = this.#targetIn(copy)
  }

  /** The collection gets the default index and ids if its own are malformed. */
  #targetIn(copy: Database): Collection {
    const { index, ids } = this.#entry
    try {
      idsOf(this.#name, ids)
      const { kind = 'sharded' } = indexOptions(index as IndexKind)
      assertIndexFor(ids ?? 'table', kind)
      return collectionIn(copy, this.#name, kind, idsOption(ids))
    } catch (error) {
      this.#findings.add(this.#name, 'lost', `kinds of index and ids: ${(error as Error).message}`)
      return copy.collection(this.#name)
    }
  }

  /** Yields the number of documents saved so far. */
  async *run(signal: AbortSignal | undefined): AsyncGenerator<number, void> {
    // Creates the collection even if there are no documents.
    await this.#target.insertMany([])
    const { first, end } = this.#area
    const iterator = this.#store.iterator<Uint8Array, string>({ ...readOptions, gte: first, lt: end })
    try {
      for (;;) {
        const entries = await iterator.nextv(documentsAtOnce)
        if (entries.length === 0) return
        throwIfAborted(signal)
        await this.#insert(entries.flatMap(([key, record]) => this.#decode(key, record)))
        yield this.documents
      }
    } finally {
      await iterator.close()
    }
  }

  async declareIndexes(signal: AbortSignal | undefined): Promise<void> {
    for (const definition of this.#entry.declared ?? []) {
      const { key, ...options } = describeIndex(definition)
      try {
        await this.#target.createIndex(Object.entries(key), { ...options, ...(signal && { signal }) })
      } catch (error) {
        if (!(error instanceof PetalError) || otherCodes.includes(error.codeName)) throw error
        this.#findings.add(this.#name, 'index', `'${options.name}' was not made: ${error.message}`)
      }
    }
  }

  #decode(key: Uint8Array, record: string): readonly Document[] {
    try {
      const document = decodeRecord(record)
      if (document._id === undefined)
        this.#findings.add(this.#name, 'id', `${this.#placeOf(key)}: it has no _id, and gets one`)
      return [document]
    } catch (error) {
      this.#findings.add(this.#name, 'document', `${this.#placeOf(key)}: ${(error as Error).message}`)
      return []
    }
  }

  /** The ordinal, if the key has one. */
  #placeOf(key: Uint8Array): string {
    const suffix = this.#area.suffix(key)
    return suffix.length === ordinalBytes
      ? String(this.#area.ordinalOf(key))
      : `key ${Buffer.from(suffix).toString('hex')}`
  }

  async #insert(batch: readonly Document[]): Promise<void> {
    try {
      await this.#target.insertMany(batch, { ordered: false })
      this.documents += batch.length
    } catch (error) {
      if (!(error instanceof BulkWriteError)) throw error
      this.documents += error.insertedCount
      for (const { index, codeName, errmsg } of error.writeErrors) {
        const document = batch[index]!
        this.#findings.add(this.#name, codeName === 'DuplicateKey' ? 'id' : 'document', errmsg)
        // Later ordinals are newer.
        if (codeName === 'DuplicateKey') await this.#target.replaceOne({ _id: { $eq: document._id } }, document)
      }
    }
  }
}
