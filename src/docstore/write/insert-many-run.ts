/**
 * The documents of one insertMany(): one run is prepared while another is committed, or documents are collected for
 * threads.
 *
 * Invariants:
 * 1. Documents are inserted in input order, and identified in results by their input position.
 * 2. When ordered, nothing after the first rejected document is inserted, and everything before it is.
 */
import { TimeSlice } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import type { RecordHost, RecordLoad } from '../bulk/record-load.ts'
import type { JsonRecord } from '../documents/json-record.ts'
import { assertDocument } from '../documents/stored-form.ts'
import { BulkWriteError, type WriteError } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { InsertManyResult } from '../results.ts'
import type { InsertManyOptions } from './insert-many.ts'
import { InsertedIds } from './inserted-ids.ts'

/** Documents in the first run, before their size is known. */
const firstRunDocuments = 100
/** As many as a batch holds; runs of 250 took a tenth more CPU time in an import (measured). */
const maxRunDocuments = 1000
const runCharacters = 4 * 1024 * 1024
/**
 * Bytes of records between two looks at the clock, each of which takes some 2 % of the time of a document; encoding
 * them takes a tenth of a millisecond.
 */
const bytesPerLook = 16 * 1024

export class InsertManyRun {
  readonly #collection: OpenCollection
  readonly #options: InsertManyOptions
  /** Number of documents, if known. */
  readonly #count: number | undefined
  /** Documents per unit. */
  readonly #unitDocuments: number
  #taken = 0
  #run: Document[] = []
  #runDocuments = firstRunDocuments
  #inFlight: Promise<void> = Promise.resolve()
  /** Failed commits when the last run was handed over. */
  #failuresBefore: number | undefined
  /** Why an insert in flight failed. */
  #failure: { readonly cause: unknown } | undefined
  /** Documents whose insertion was attempted. */
  #attempted = 0
  readonly #ids = new InsertedIds()
  readonly #writeErrors: WriteError[] = []
  #insertedCount = 0
  /** Created when units may be worthwhile; null once it is known that they are not. */
  #load: RecordLoad | null | undefined
  readonly #timeSlice = new TimeSlice()
  /** Bytes collected when the clock was last looked at. */
  #lookedAt = 0
  #isOver = false

  /** @param count number of documents, if known */
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
    return this.#failure !== undefined || this.#load?.bulk.hasFailed === true
  }

  /** Documents inserted so far. */
  get insertedCount(): number {
    return this.#insertedCount
  }

  /** Whether documents are waiting for others that may be late: thousands, when they are collected for threads. */
  get hasPending(): boolean {
    return this.#load?.bulk.isCollecting === true
  }

  /** The source may be idle for a while. */
  async pause(): Promise<void> {
    if (this.hasPending) await this.#load?.bulk.flush()
  }

  /** Takes a document, generating its `_id`. @returns true if no other may follow @throws PetalError BadValue */
  take(document: unknown): boolean | Promise<boolean> {
    if (this.#isOver) return true
    assertDocument(document, this.#taken)
    this.#collection.writer.ensureId(document)
    const load = this.#load
    if (load?.bulk.isCollecting) return this.#collect(load, document)
    if (this.#mayLoad) return this.#tryToLoad(document)
    return this.#takeNormally(document)
  }

  /**
   * Called when the source has ended: hands the last run over, in the same turn if nothing has been awaited so far, so
   * that a short list is inserted before any write called later.
   */
  async end(): Promise<void> {
    if (!this.#isOver && !this.hasPending) await this.#flush()
  }

  /** Inserts the remaining documents. @throws BulkWriteError if documents were rejected */
  async finish(): Promise<InsertManyResult> {
    if (!this.#isOver) {
      if (this.hasPending) await this.#load?.bulk.finish()
      await this.#flush()
    }
    await this.#inFlight
    const insertedCount = this.#insertedCount
    const [first, ...others] = this.#writeErrors
    if (first === undefined) return this.#ids.addTo({ acknowledged: true, insertedCount })
    const noOthers = { matchedCount: 0, modifiedCount: 0, deletedCount: 0, upsertedCount: 0, upsertedIds: {} }
    throw new BulkWriteError([first, ...others], this.#ids.addTo({ insertedCount, ...noOthers }))
  }

  async close(): Promise<void> {
    await this.#load?.bulk.close(!this.hasFailed)
  }

  #takeNormally(document: Document): boolean | Promise<boolean> {
    this.#taken++
    this.#run.push(document)
    this.#load?.bulk.noteInserted()
    if (this.#run.length >= this.#runDocuments) return this.#flush()
    // The first run is handed over before any write called later, see end(). The source may spend time on each document.
    if (this.#attempted === 0) return false
    return this.#timeSlice.isOver() && this.#letTurn()
  }

  async #letTurn(): Promise<boolean> {
    await this.#timeSlice.renew()
    return false
  }

  /**
   * Threads only pay off for a whole unit. Without a known count, the number taken so far predicts how many are to
   * come.
   */
  get #mayLoad(): boolean {
    if (this.#load === null || (this.#load !== undefined && !this.#load.bulk.isDue)) return false
    return (this.#left ?? this.#taken) >= this.#unitDocuments
  }

  /** Documents not taken yet, if known. */
  get #left(): number | undefined {
    return this.#count === undefined ? undefined : this.#count - this.#taken
  }

  async #tryToLoad(document: Document): Promise<boolean> {
    if (await this.#flush()) return true
    await this.#inFlight
    if (this.#load === undefined) {
      // Imported lazily because it needs Node's worker threads.
      const { RecordLoad } = await import('../bulk/record-load.ts')
      const host: RecordHost = {
        insertRecords: (records) => this.#insertRecords(records),
        published: (documents) => this.#published(documents)
      }
      this.#load = RecordLoad.for(this.#collection, host, this.#options.threads) ?? null
    }
    const load = this.#load
    if (load?.bulk.isDue && load.tryToBegin(this.#left)) return this.#collect(load, document)
    return this.#takeNormally(document)
  }

  #collect(load: RecordLoad, document: Document): boolean | Promise<boolean> {
    const id = load.put(document)
    if (id === undefined) return this.#insertAfterFlush(document)
    this.#ids.set(this.#taken++, id)
    const { isUnitComplete, collectedBytes } = load.bulk
    // A list takes no time to yield a document, unlike other sources.
    const isSoon = this.#count !== undefined && Math.abs(collectedBytes - this.#lookedAt) < bytesPerLook
    if (isSoon && !isUnitComplete) return false
    this.#lookedAt = collectedBytes
    const isDue = this.#timeSlice.isOver()
    return (isDue || isUnitComplete) && this.#advance(load, isDue)
  }

  async #advance(load: RecordLoad, isDue: boolean): Promise<boolean> {
    if (isDue) await this.#timeSlice.renew()
    await load.bulk.advance()
    return this.#isOver
  }

  /** The document has to be inserted the ordinary way, after those before it. */
  async #insertAfterFlush(document: Document): Promise<boolean> {
    await this.pause()
    return this.#isOver || this.#takeNormally(document)
  }

  #published(documents: number): void {
    this.#attempted += documents
    this.#insertedCount += documents
  }

  /** Inserts the records of a unit that could not be adopted as a whole. */
  async #insertRecords(records: Iterable<JsonRecord | Document>): Promise<void> {
    let run: (Document | JsonRecord)[] = []
    for (const record of records) {
      if (this.#isOver) return
      run.push(record)
      if (run.length >= this.#runDocuments) {
        await this.#insert(run)
        run = []
      }
      if (this.#timeSlice.isOver()) await this.#timeSlice.renew()
    }
    if (run.length > 0 && !this.#isOver) await this.#insert(run)
    await this.#inFlight
  }

  async #flush(): Promise<boolean> {
    const run = this.#run
    if (run.length === 0) return this.#isOver
    this.#run = []
    await this.#insert(run)
    return this.#isOver
  }

  async #insert(run: readonly (Document | JsonRecord)[]): Promise<void> {
    // Anything after a failed run would leave a gap.
    if (this.#failure !== undefined) throw this.#failure.cause
    const ordered = this.#options.ordered ?? true
    try {
      const { writer } = this.#collection
      const { failures } = writer
      const inserting = writer.insert(run, ordered, this.#failuresBefore)
      this.#failuresBefore = failures
      const { ids, errors, count, characters, done } = await inserting
      done.catch((cause: unknown) => this.#failed(cause))
      await this.#inFlight.catch(async (error: unknown) => {
        // Report the failure only once nothing of it is being written any more.
        await done.catch(() => {})
        throw error
      })
      this.#inFlight = done
      // Keeps the caller's own ids for documents that were collected before.
      this.#ids.addMissing(this.#attempted, ids)
      for (const error of errors) this.#refused({ ...error, index: this.#attempted + error.index }, ordered)
      this.#attempted += run.length
      this.#insertedCount += count
      if (count > 0) {
        const fitting = Math.floor((runCharacters * count) / characters)
        this.#runDocuments = Math.max(1, Math.min(maxRunDocuments, fitting))
      }
    } catch (cause) {
      this.#failed(cause)
      throw cause
    }
  }

  #refused(error: WriteError, isLast: boolean): void {
    this.#writeErrors.push(error)
    // The document may have been collected, like those after it, whose ids are then already recorded.
    const end = isLast ? this.#taken : error.index + 1
    this.#ids.delete(error.index, end)
    this.#isOver = isLast
  }

  #failed(cause: unknown): void {
    this.#failure ??= { cause }
  }
}
