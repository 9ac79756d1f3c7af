/**
 * Imports many documents in parallel: starting where a segment ends, threads build whole segments, which are published
 * one after the other.
 *
 * Lines, or records of documents, are collected into units of about as many documents as a segment holds; each unit
 * goes to a thread with a range of ordinals. A unit that cannot be published as built is inserted the ordinary way,
 * line by line, and so is everything after it, for a while, because documents are in the order of their lines.
 *
 * Invariants:
 * 1. Units are published in the order of their lines, each as a whole or not at all.
 * 2. A unit that is not published leaves no files, and its lines are imported all the same.
 * 3. At most one unit more than there are threads is held.
 */
import type { Ingest } from '../../lsm/engine/ingest.ts'
import type { TableMeta } from '../../lsm/version/table-meta.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import type { SegmentPlan } from '../../sharded-bloom/bulk/bulk-plan.ts'
import { maxLineBytes } from '../import/read-line.ts'
import type { OpenCollection } from '../open-collection.ts'
import { compareBytes } from '../store/layout.ts'
import { buildInThread } from '../threads/build-threads.ts'
import { BuildProgress } from './build-progress.ts'
import { LoadBackoff } from './load-backoff.ts'
import { type BuiltUnit, type LineKind, type LoadPlan, type LoadUnit, numbersFor } from './load-unit.ts'
import { UnitCollector } from './unit-collector.ts'
import { releaseUnitMemory } from './unit-memory.ts'
import { UnitSizes } from './unit-sizes.ts'

/** Much longer lines are dominated by per-byte work, and need more memory than they are worth. */
const maxUnitBytes = 128 << 20
/** A source that takes longer than this per unit is slower than a single thread, and lines should not wait. */
const unitMilliseconds = 2000

/** Provided by the import. */
export interface LoadHost {
  /** Inserts whole lines the ordinary way. */
  insertNormally(bytes: Uint8Array): Promise<void>
  /** Called when a unit of that many lines has been published. */
  published(lines: number, documents: number): void
}

interface PendingUnit {
  readonly firstOrdinal: number
  readonly unit: LoadUnit
  /** Resolves when the thread has replied or died. */
  readonly reply: Promise<BuiltUnit | undefined>
}

export class BulkLoad {
  readonly #collection: OpenCollection
  readonly #host: LoadHost
  readonly #segments: SegmentPlan
  readonly #backoff: LoadBackoff
  /** Number of units that may be built concurrently. */
  readonly #threads: number
  readonly #collector: UnitCollector
  readonly #sizes: UnitSizes
  readonly #progress = new BuildProgress()
  /** In the order of their lines. */
  readonly #pendingUnits: PendingUnit[] = []
  /** Memory of lines that are being inserted the ordinary way. */
  readonly #lent: SharedArrayBuffer[] = []
  #ingest: Ingest | undefined
  readonly #timeSlice = new TimeSlice()
  /** When collection of the current unit began, or later. */
  #begun = 0
  /** The store failed: nothing more is imported. */
  hasFailed = false
  /** Whether input goes to take() or put(). */
  isCollecting = false

  private constructor(
    collection: OpenCollection,
    kind: LineKind,
    host: LoadHost,
    segments: SegmentPlan,
    threads: number
  ) {
    this.#collection = collection
    this.#host = host
    this.#segments = segments
    this.#threads = threads
    this.#backoff = new LoadBackoff(segments.segmentDocuments)
    this.#collector = new UnitCollector(kind, segments.segmentDocuments, maxUnitBytes, maxLineBytes)
    this.#sizes = new UnitSizes(kind, segments.segmentDocuments, threads, this.#progress.linesLeft)
  }

  /** Returns undefined if the store, the index or the collection does not support it. */
  static for(collection: OpenCollection, kind: LineKind, host: LoadHost, threads: number): BulkLoad | undefined {
    const { store, index } = collection
    const segments =
      threads === 0 || store.beginIngest === undefined || store.ids !== undefined ? undefined : index.bulk?.plan()
    return segments && new BulkLoad(collection, kind, host, segments, threads)
  }

  /** A document was inserted the ordinary way. */
  noteInserted(): void {
    this.#backoff.noteInserted()
  }

  /** Whether tryToBegin() may succeed. */
  get isDue(): boolean {
    return this.#backoff.isDue
  }

  /**
   * Must be called when isDue, with everything before committed. If it succeeds, lines go to take() or put() from then
   * on.
   * @param recordsLeft number of records to come, if known
   */
  tryToBegin(recordsLeft?: number): boolean {
    const room = this.#collection.index.bulk?.room
    if (!this.#backoff.tryBegin(room ?? 0)) return false
    this.#reclaimMemory()
    this.isCollecting = room === 0 && this.#isAllowed
    if (!this.isCollecting) {
      this.#giveUp()
      this.#backoff.tryBegin(0)
    }
    this.#sizes.begin(recordsLeft)
    this.#collector.setTarget(this.#sizes.nextLines)
    this.#begun = performance.now()
    return this.isCollecting
  }

  /**
   * Takes bytes that start at the start of a line.
   * @param left bytes to come after these, if known
   * @returns bytes to be inserted the ordinary way; if there are any, isCollecting is false
   */
  async take(chunk: Uint8Array, left?: number): Promise<Uint8Array> {
    let rest = chunk
    while (rest.length > 0 && this.isCollecting) {
      rest = this.#collector.take(rest)
      if (left !== undefined) this.#measure(rest.length + left)
      if (this.#timeSlice.isOver()) await this.#timeSlice.renew()
      await this.advance()
    }
    return rest
  }

  /**
   * Takes a record; advance() must be called now and then. False if there is no room: the record must then be inserted
   * the ordinary way, after flush().
   */
  put(record: Uint8Array): boolean {
    return this.#collector.put(record)
  }

  /** Whether advance() has something to do, apart from its timeout for slow input. */
  get isUnitComplete(): boolean {
    return this.#collector.isFull || this.#collector.isUnfillable
  }

  /** Bytes of the unit being collected. */
  get collectedBytes(): number {
    return this.#collector.length
  }

  /** Sends the collected lines to a thread if they make a unit, or leaves if they will not soon. */
  async advance(): Promise<void> {
    if (this.#collector.isFull) await this.#send()
    else if (this.#collector.isUnfillable || performance.now() - this.#begun > unitMilliseconds) await this.flush()
  }

  /**
   * Discards what was built but not published; there is nothing to discard after flush().
   * @param isCommitted everything inserted the ordinary way is committed
   */
  async close(isCommitted: boolean): Promise<void> {
    for (const { reply, unit } of this.#pendingUnits.splice(0)) {
      await this.#discard(await reply)
      releaseUnitMemory(unit.bytes.buffer)
    }
    if (isCommitted) this.#reclaimMemory()
    void this.#collection.writer.maintainWhenIdle()
  }

  /** Change streams and declared indexes need every document individually. */
  get #isAllowed(): boolean {
    const { declared, committer } = this.#collection
    return declared.isEmpty && !committer.isWatched
  }

  /** Estimates from the unit's lines so far how many lines are to come. @param left bytes after them */
  #measure(left: number): void {
    const { completeLines, completeBytes, length } = this.#collector
    if (completeLines === 0) return
    this.#sizes.expect(Math.ceil(((length + left) * completeLines) / completeBytes))
    this.#collector.setTarget(this.#sizes.nextLines)
  }

  async #send(): Promise<void> {
    const [first] = this.#pendingUnits
    // That thread then builds the next unit while its last one is published.
    if (first !== undefined && this.#pendingUnits.length === this.#threads) await first.reply
    const firstOrdinal = this.#isAllowed
      ? await this.#collection.writer.reserve(this.#collector.completeLines)
      : undefined
    if (firstOrdinal === undefined) {
      await this.flush()
      return
    }
    this.#ingest ??= await this.#collection.store.beginIngest!()
    const unit = this.#collector.unit()
    this.#sizes.taken(unit.ends.length)
    this.#collector.setTarget(this.#sizes.nextLines)
    this.#begun = performance.now()
    const ingest = this.#ingest
    const numbers = numbersFor(unit.bytes.length)
    const firstNumber = ingest.takeNumbers(numbers)
    const request = { plan: this.#planOf(ingest), unit, firstOrdinal, firstNumber, numbers }
    const ended = this.#progress.start(unit.ends.length)
    const reply = buildInThread('unit', request)
      .finally(ended)
      .catch(async () => {
        await ingest.discardNumbers(firstNumber, numbers)
        return undefined
      })
    this.#pendingUnits.push({ firstOrdinal, unit, reply })
    if (this.#pendingUnits.length > this.#threads) await this.#publishFirst()
  }

  /** The current plan, since parameters may have changed since the import began. */
  #planOf({ plan }: Ingest): LoadPlan {
    const { store, index } = this.#collection
    return { ingest: plan, segments: index.bulk?.plan() ?? this.#segments, ...store.prefixes }
  }

  /** Publishes the first unit; if that fails, imports everything collected the ordinary way. */
  async #publishFirst(): Promise<void> {
    const { firstOrdinal, unit, reply } = this.#pendingUnits.shift()!
    const built = await reply
    if (built !== undefined && (await this.#publish(firstOrdinal, built))) {
      releaseUnitMemory(unit.bytes.buffer)
      this.#host.published(unit.ends.length, built.documents)
      this.#backoff.noteSuccess()
      return
    }
    await this.#discard(built)
    await this.#insertRest(unit)
  }

  async #publish(firstOrdinal: number, built: BuiltUnit): Promise<boolean> {
    const ingest = this.#ingest!
    const { store, writer } = this.#collection
    const { ids } = store.prefixes
    // Keys of documents and index records contain ordinals. Those of a failed batch are reused, but nothing is under them.
    const isNew = ({ smallest }: TableMeta): boolean => !beginsWith(smallest, ids)
    let isKept = false
    const install = async (): Promise<boolean> => {
      // Checked here, with no other write in flight, because an earlier call may have created an index.
      if (!this.#isAllowed) return false
      // If this fails, it is unknown whether the store has the tables.
      isKept = true
      return ingest.install(built.tables, isNew)
    }
    try {
      return await writer.load(firstOrdinal, built, install)
    } catch (error) {
      this.hasFailed = true
      if (!isKept) await this.#discard(built)
      throw error
    }
  }

  /** The input has ended: imports the rest, using threads as long as that pays off. */
  async finish(): Promise<void> {
    const unfinished = this.#collector.takePartialLine()
    if (this.isCollecting && this.#collector.completeLines >= this.#sizes.minLines) await this.#send()
    await this.flush()
    if (unfinished.length > 0) await this.#host.insertNormally(unfinished)
  }

  /**
   * Imports everything collected so far, because no more input is expected soon, or no more is worth building units of.
   */
  async flush(): Promise<void> {
    while (this.#pendingUnits.length > 0) await this.#publishFirst()
    if (this.isCollecting) await this.#insertRest()
  }

  /**
   * Inserts everything not published yet the ordinary way: the rejected unit, those after it, and the lines being
   * collected.
   */
  async #insertRest(refused?: LoadUnit): Promise<void> {
    this.#giveUp()
    if (refused !== undefined) await this.#insertNormally(refused)
    for (let next = this.#pendingUnits.shift(); next !== undefined; next = this.#pendingUnits.shift()) {
      await this.#discard(await next.reply)
      await this.#insertNormally(next.unit)
    }
    await this.#insertNormally(this.#collector.unit())
  }

  /** Lines use their unit's memory until they are committed. */
  async #insertNormally({ bytes }: LoadUnit): Promise<void> {
    this.#lent.push(bytes.buffer)
    await this.#host.insertNormally(bytes)
  }

  #reclaimMemory(): void {
    for (const memory of this.#lent.splice(0)) releaseUnitMemory(memory)
  }

  #giveUp(): void {
    this.isCollecting = false
    this.#backoff.noteFailure()
  }

  async #discard(built: BuiltUnit | undefined): Promise<void> {
    if (built !== undefined) await this.#ingest?.discard(built.tables)
  }
}

function beginsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  return compareBytes(key.subarray(0, prefix.length), prefix) === 0
}
