/**
 * Documents of one insertMany on their way in: one run is prepared while one is committed, or they are collected for threads.
 *
 * Invariants:
 * 1. Documents are inserted in the order they came in, and each is told of by its place among them.
 * 2. When ordered, nothing after the first document that is refused is inserted, and everything before it is.
 */
import { breathe } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import type { RecordLoad } from '../bulk/record-load.ts'
import type { JsonRecord } from '../documents/json-record.ts'
import { assertDocument } from '../documents/stored-form.ts'
import { BulkWriteError, type WriteError } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { InsertManyResult } from '../results.ts'
import type { InsertManyOptions } from './insert-many.ts'

/** Documents of the first run, before their size is known. */
const firstRunDocuments = 100
/** As many as a batch takes: an import by runs of 250 took a tenth more of the processor (measured). */
const maxRunDocuments = 1000
const runCharacters = 4 * 1024 * 1024
/** Bytes of records between two looks at the clock, some 0.1 ms, and what each counts for beside its own. */
const bytesPerLook = 16 * 1024
const bytesBeside = 512

export class ManyInserts {
  readonly #collection: OpenCollection
  readonly #options: InsertManyOptions
  /** Where it is known. */
  readonly #count: number | undefined
  /** Documents of a unit. */
  readonly #unitDocuments: number
  #taken = 0
  #run: Document[] = []
  #runDocuments = firstRunDocuments
  #underWay: Promise<void> = Promise.resolve()
  /** Documents whose insertion has been tried. */
  #tried = 0
  readonly #insertedIds: Record<number, unknown> = {}
  readonly #writeErrors: WriteError[] = []
  #insertedCount = 0
  /** Looked for when units may be of use; null when it has been seen that they are not. */
  #load: RecordLoad | null | undefined
  /** `_id`s of the documents that were collected for units, from number #tried on. */
  #unitIds: unknown[] = []
  #sliceStart = performance.now()
  #unseen = 0
  #isOver = false
  #hasStoreFailed = false

  /** @param count of the documents, where it is known */
  constructor(collection: OpenCollection, options: InsertManyOptions, count: number | undefined) {
    this.#collection = collection
    this.#options = options
    this.#count = count
    const { store, index } = collection
    const { segmentDocuments = 0 } = index.bulk?.plan() ?? {}
    this.#unitDocuments = segmentDocuments
    if (options.threads === 0 || store.beginIngest === undefined || segmentDocuments === 0) this.#load = null
  }

  /** The store failed: nothing more is inserted. */
  get hasFailed(): boolean {
    return this.#hasStoreFailed || this.#load?.bulk.hasFailed === true
  }

  /** Documents wait for others that may be late: thousands, where they are collected for threads. */
  get isWaiting(): boolean {
    return this.#load?.bulk.isCollecting === true
  }

  /** None may come for a while. */
  async pause(): Promise<void> {
    if (this.isWaiting) await this.#load?.bulk.leave()
  }

  /** A document gets its `_id` as it is taken. @returns true when no other may follow @throws PetalError BadValue */
  take(document: unknown): boolean | Promise<boolean> {
    assertDocument(document)
    this.#collection.writer.ensureId(document)
    const load = this.#load
    if (load?.bulk.isCollecting) return this.#collect(load, document)
    if (this.#mayLoad) return this.#tryToLoad(document)
    return this.#takeOrdinarily(document)
  }

  /** Inserts what is left. @throws BulkWriteError when documents were refused */
  async finish(): Promise<InsertManyResult> {
    if (!this.#isOver) {
      await this.pause()
      await this.#flush()
    }
    await this.#settle()
    const insertedCount = this.#insertedCount
    const insertedIds = this.#insertedIds
    const [first, ...others] = this.#writeErrors
    if (first === undefined) return { acknowledged: true, insertedCount, insertedIds }
    throw new BulkWriteError([first, ...others], {
      insertedCount,
      insertedIds,
      matchedCount: 0,
      modifiedCount: 0,
      deletedCount: 0,
      upsertedCount: 0,
      upsertedIds: {}
    })
  }

  async close(): Promise<void> {
    await this.#load?.bulk.close(!this.hasFailed)
  }

  #takeOrdinarily(document: Document): boolean | Promise<boolean> {
    this.#taken++
    this.#run.push(document)
    this.#load?.bulk.passed()
    return this.#run.length >= this.#runDocuments && this.#flush()
  }

  /** Only a whole unit is worth a thread's while; how many are to come may be told by how many have. */
  get #mayLoad(): boolean {
    if (this.#load === null || (this.#load !== undefined && !this.#load.bulk.isDue)) return false
    const expected = this.#count === undefined ? this.#taken : this.#count - this.#taken
    return expected >= this.#unitDocuments
  }

  async #tryToLoad(document: Document): Promise<boolean> {
    if (await this.#flush()) return true
    await this.#settle()
    if (this.#load === undefined) {
      // Loaded here and not above: it needs Node's threads.
      const { RecordLoad } = await import('../bulk/record-load.ts')
      const published = (_: number, documents: number): void => this.#published(documents)
      const insertOrdinarily = (bytes: Uint8Array): Promise<void> => this.#insertRecords(bytes)
      const host = { published, insertOrdinarily }
      this.#load = RecordLoad.for(this.#collection, host, this.#options.threads) ?? null
    }
    const load = this.#load
    if (load?.bulk.isDue && load.bulk.tryToBegin()) return this.#collect(load, document)
    return this.#takeOrdinarily(document)
  }

  #collect(load: RecordLoad, document: Document): boolean | Promise<boolean> {
    const taken = load.put(document)
    if (taken === undefined) return this.#leaveFor(document)
    this.#taken++
    this.#unitIds.push(taken.id)
    this.#unseen += taken.bytes + bytesBeside
    return (this.#unseen >= bytesPerLook || load.bulk.isUnitComplete) && this.#look(load)
  }

  #look(load: RecordLoad): boolean | Promise<boolean> {
    this.#unseen = 0
    const slice = breathe(this.#sliceStart)
    if (slice instanceof Promise || load.bulk.isUnitComplete) return this.#advance(load, slice)
    return false
  }

  async #advance(load: RecordLoad, slice: number | Promise<number>): Promise<boolean> {
    this.#sliceStart = await slice
    await load.bulk.advance()
    return this.#isOver
  }

  /** The document has to be inserted the ordinary way, behind those before it. */
  async #leaveFor(document: Document): Promise<boolean> {
    await this.pause()
    return this.#isOver || this.#takeOrdinarily(document)
  }

  #published(documents: number): void {
    for (let i = 0; i < documents; i++) this.#insertedIds[this.#tried + i] = this.#unitIds[i]
    this.#unitIds = this.#unitIds.slice(documents)
    this.#tried += documents
    this.#insertedCount += documents
  }

  /** Records of a unit that could not be taken as it was. */
  async #insertRecords(bytes: Uint8Array): Promise<void> {
    const { unitRecords } = await import('../bulk/unit-records.ts')
    let run: (Document | JsonRecord)[] = []
    for (const record of unitRecords(bytes)) {
      if (this.#isOver) break
      run.push(record)
      if (run.length >= this.#runDocuments) {
        await this.#insertCollected(run)
        run = []
      }
      const slice = breathe(this.#sliceStart)
      this.#sliceStart = slice instanceof Promise ? await slice : slice
    }
    if (!this.#isOver) await this.#insertCollected(run)
    await this.#settle()
  }

  #insertCollected(run: readonly (Document | JsonRecord)[]): Promise<void> {
    const ids = this.#unitIds.slice(0, run.length)
    this.#unitIds = this.#unitIds.slice(run.length)
    return this.#insert(run, ids)
  }

  async #flush(): Promise<boolean> {
    const run = this.#run
    if (run.length === 0) return this.#isOver
    this.#run = []
    await this.#insert(run)
    return this.#isOver
  }

  /** @param given the documents' `_id`s, where the caller had others than those of what is inserted */
  async #insert(run: readonly (Document | JsonRecord)[], given?: readonly unknown[]): Promise<void> {
    const { ordered = true } = this.#options
    try {
      const { ids, errors, count, characters, done } = await this.#collection.writer.insert(run, ordered)
      // Its error is thrown below, when it is awaited.
      done.catch(ignore)
      await this.#underWay.catch(async (error: unknown) => {
        // Whoever is told that it failed is told when nothing of it is being written any more.
        await done.catch(ignore)
        throw error
      })
      this.#underWay = done
      ids.forEach((id, i) => {
        if (id !== undefined) this.#insertedIds[this.#tried + i] = given === undefined ? id : given[i]
      })
      for (const error of errors) this.#writeErrors.push({ ...error, index: this.#tried + error.index })
      this.#tried += run.length
      this.#insertedCount += count
      if (count > 0) {
        const fitting = Math.floor((runCharacters * count) / characters)
        this.#runDocuments = Math.max(1, Math.min(maxRunDocuments, fitting))
      }
      this.#isOver = ordered && errors.length > 0
    } catch (error) {
      this.#hasStoreFailed = true
      throw error
    }
  }

  async #settle(): Promise<void> {
    try {
      await this.#underWay
    } catch (error) {
      this.#hasStoreFailed = true
      throw error
    }
  }
}

function ignore(): void {}
