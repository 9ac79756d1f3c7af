/**
 * A long import in parallel: from where a segment ends, threads build whole ones, which are made visible one after the other.
 *
 * Lines, or records of documents, are collected into units of about as many as a segment has documents; each goes to a thread, with
 * ordinals of its own. What cannot be taken as it was built is inserted the ordinary way, line by line, and so is everything behind
 * it, for a while: documents stand in the order of their lines.
 *
 * Invariants:
 * 1. Units are published in the order of their lines, each whole or not at all.
 * 2. A unit that is not published leaves no file, and its lines are imported all the same.
 * 3. At most one unit more than there are threads is held.
 */
import type { Ingest } from '../../lsm/engine/ingest.ts'
import type { TableMeta } from '../../lsm/version/table-meta.ts'
import { breathe } from '../../model/time-slice.ts'
import type { SegmentPlan } from '../../sharded-bloom/bulk/bulk-plan.ts'
import { maxLineBytes } from '../import/read-line.ts'
import type { OpenCollection } from '../open-collection.ts'
import { compareBytes } from '../store/layout.ts'
import { buildInThread } from './load-threads.ts'
import { LoadTurn } from './load-turn.ts'
import { type BuiltUnit, type LineKind, type LoadPlan, type LoadReply, type LoadUnit, numbersFor } from './load-unit.ts'
import { UnitCollector } from './unit-collector.ts'
import { giveUnitMemory } from './unit-memory.ts'
import { UnitSizes } from './unit-sizes.ts'

/** Lines that are much longer take their time byte by byte, and more memory than they are worth. */
const maxUnitBytes = 128 << 20
/** A source that takes longer for a unit is slower than one thread, and lines are not to wait for others. */
const unitMilliseconds = 2000

const nothingBuilt: LoadReply = { built: undefined }

/** What the import does itself. */
export interface LoadHost {
  /** Inserts whole lines the ordinary way. */
  insertOrdinarily(bytes: Uint8Array): Promise<void>
  /** A unit of so many lines is in the database. */
  published(lines: number, documents: number): void
}

interface UnitUnderWay {
  readonly firstOrdinal: number
  readonly unit: LoadUnit
  /** Resolves when the thread has answered, or has died. */
  readonly reply: Promise<LoadReply>
}

export class BulkLoad {
  readonly #collection: OpenCollection
  readonly #host: LoadHost
  readonly #segments: SegmentPlan
  readonly #turn: LoadTurn
  /** How many units may be built at a time. */
  readonly #threads: number
  readonly #collector: UnitCollector
  readonly #sizes: UnitSizes
  /** In the order of their lines. */
  readonly #underWay: UnitUnderWay[] = []
  /** Memory of lines that are inserted ordinarily. */
  readonly #lent: SharedArrayBuffer[] = []
  #ingest: Ingest | undefined
  #sliceStart = performance.now()
  /** When the first line of the unit came that is being collected, or later. */
  #begun = 0
  /** The store failed: nothing more is imported. */
  hasFailed = false
  /** Whether bytes are to come to take(). */
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
    this.#turn = new LoadTurn(segments.segmentDocuments)
    this.#collector = new UnitCollector(kind, segments.segmentDocuments, maxUnitBytes, maxLineBytes)
    this.#sizes = new UnitSizes(segments.segmentDocuments, threads)
  }

  /** undefined where nothing can be built elsewhere: the store, the index or the collection are not made for it. */
  static for(collection: OpenCollection, kind: LineKind, host: LoadHost, threads: number): BulkLoad | undefined {
    const { store, index } = collection
    const segments =
      threads === 0 || store.beginIngest === undefined || store.ids !== undefined ? undefined : index.bulk?.plan()
    return segments && new BulkLoad(collection, kind, host, segments, threads)
  }

  /** A document has gone the ordinary way. */
  passed(): void {
    this.#turn.passed()
  }

  /** Whether tryToBegin() may succeed. */
  get isDue(): boolean {
    return this.#turn.isDue
  }

  /**
   * Called when it is due, and all before is committed. From then on, if it succeeds, lines go to take() or put().
   * @param recordsLeft to come, where it is known
   */
  tryToBegin(recordsLeft?: number): boolean {
    const room = this.#collection.index.bulk?.room
    if (!this.#turn.begins(room ?? 0)) return false
    this.#takeBackMemory()
    this.isCollecting = room === 0 && this.#isWelcome
    if (!this.isCollecting) {
      this.#giveUp()
      this.#turn.begins(0)
    }
    this.#sizes.begin(recordsLeft)
    this.#collector.aim(this.#sizes.next)
    this.#begun = performance.now()
    return this.isCollecting
  }

  /**
   * Takes bytes that begin with a line.
   * @param left bytes to come behind these, where it is known
   * @returns what is to be inserted the ordinary way: isCollecting is false then
   */
  async take(chunk: Uint8Array, left?: number): Promise<Uint8Array> {
    let rest = chunk
    while (rest.length > 0 && this.isCollecting) {
      rest = this.#collector.take(rest)
      if (left !== undefined) this.#measure(rest.length + left)
      const slice = breathe(this.#sliceStart)
      this.#sliceStart = slice instanceof Promise ? await slice : slice
      await this.advance()
    }
    return rest
  }

  /** Takes a record; advance() follows, now and then. False where there is no room: it goes the ordinary way, after leave(). */
  put(record: Uint8Array): boolean {
    return this.#collector.put(record)
  }

  /** Whether advance() has something to do: if lines come too slowly it knows by itself. */
  get isUnitComplete(): boolean {
    return this.#collector.isFull || this.#collector.isOver
  }

  /** Sends what was collected to a thread if it is a unit, and leaves if it will not soon be one. */
  async advance(): Promise<void> {
    if (this.#collector.isFull) await this.#send()
    else if (this.#collector.isOver || performance.now() - this.#begun > unitMilliseconds) await this.leave()
  }

  /**
   * Removes what was built and not published: nothing, after leave().
   * @param isCommitted all that was inserted ordinarily
   */
  async close(isCommitted: boolean): Promise<void> {
    for (const { reply, unit } of this.#underWay.splice(0)) {
      await this.#discard((await reply).built)
      giveUnitMemory(unit.bytes)
    }
    if (isCommitted) this.#takeBackMemory()
    void this.#collection.writer.rest()
  }

  /** Who watches, or declares an index, has to be told of every document. */
  get #isWelcome(): boolean {
    const { declared, committer } = this.#collection
    return declared.isEmpty && !committer.isWatched
  }

  /** From the lines of a unit so far, how many are to come. @param left bytes behind them */
  #measure(left: number): void {
    const { ended, endedAt, length } = this.#collector
    if (ended === 0) return
    this.#sizes.expect(Math.ceil(((length + left) * ended) / endedAt))
    this.#collector.aim(this.#sizes.next)
  }

  async #send(): Promise<void> {
    const [first] = this.#underWay
    // Its thread builds the next unit while it is published.
    if (first !== undefined && this.#underWay.length === this.#threads) await first.reply
    const firstOrdinal = this.#isWelcome ? await this.#collection.writer.reserve(this.#collector.ended) : undefined
    if (firstOrdinal === undefined) {
      await this.leave()
      return
    }
    this.#ingest ??= await this.#collection.store.beginIngest!()
    const unit = this.#collector.unit()
    this.#sizes.taken(unit.lines)
    this.#collector.aim(this.#sizes.next)
    this.#begun = performance.now()
    const ingest = this.#ingest
    const numbers = numbersFor(unit.length)
    const firstNumber = ingest.takeNumbers(numbers)
    const plan = this.#planOf(ingest)
    const reply = buildInThread({ plan, unit, firstOrdinal, firstNumber, numbers }).catch(async () => {
      await ingest.discardNumbers(firstNumber, numbers)
      return nothingBuilt
    })
    this.#underWay.push({ firstOrdinal, unit, reply })
    if (this.#underWay.length > this.#threads) await this.#publishFirst()
  }

  /** Parameters may be chosen otherwise than when the import began. */
  #planOf({ plan }: Ingest): LoadPlan {
    const { store, index } = this.#collection
    return { ingest: plan, segments: index.bulk?.plan() ?? this.#segments, ...store.prefixes }
  }

  /** Or everything that was collected is imported in another way. */
  async #publishFirst(): Promise<void> {
    const { firstOrdinal, unit, reply } = this.#underWay.shift()!
    const { built } = await reply
    if (built !== undefined && (await this.#publish(firstOrdinal, built))) {
      giveUnitMemory(unit.bytes)
      this.#host.published(unit.lines, built.documents)
      this.#turn.published()
      return
    }
    await this.#discard(built)
    await this.#turnBack(unit)
  }

  async #publish(firstOrdinal: number, built: BuiltUnit): Promise<boolean> {
    const ingest = this.#ingest!
    const { store, writer } = this.#collection
    const { ids } = store.prefixes
    // Ordinals are never given twice, and keys of documents and index records have one in them.
    const isNew = ({ smallest }: TableMeta): boolean => !beginsWith(smallest, ids)
    let isKept = false
    const install = async (): Promise<boolean> => {
      // Here, with no other write under way: an index may have been declared by one that was called before.
      if (!this.#isWelcome) return false
      // Should this fail, whether the store has the tables is unknown.
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

  /** Nothing more will come: what has come is imported, by threads as long as it is worth it. */
  async end(): Promise<void> {
    const unfinished = this.#collector.cut()
    if (this.isCollecting && this.#collector.ended >= this.#sizes.fewest) await this.#send()
    await this.leave()
    if (unfinished.length > 0) await this.#host.insertOrdinarily(unfinished)
  }

  /** What has come so far is imported now: no more is known to come soon, or to be of use in units. */
  async leave(): Promise<void> {
    while (this.#underWay.length > 0) await this.#publishFirst()
    if (this.isCollecting) await this.#turnBack()
  }

  /** What was not published yet is inserted the ordinary way: the unit whose turn it was, those behind it, and the rest. */
  async #turnBack(refused?: LoadUnit): Promise<void> {
    this.#giveUp()
    if (refused !== undefined) await this.#insertOrdinarily(refused)
    for (let next = this.#underWay.shift(); next !== undefined; next = this.#underWay.shift()) {
      await this.#discard((await next.reply).built)
      await this.#insertOrdinarily(next.unit)
    }
    await this.#insertOrdinarily(this.#collector.unit())
  }

  /** Until the lines are committed their memory is theirs. */
  async #insertOrdinarily({ bytes, length }: LoadUnit): Promise<void> {
    this.#lent.push(bytes)
    await this.#host.insertOrdinarily(new Uint8Array(bytes, 0, length))
  }

  #takeBackMemory(): void {
    for (const memory of this.#lent.splice(0)) giveUnitMemory(memory)
  }

  #giveUp(): void {
    this.isCollecting = false
    this.#turn.gaveUp()
  }

  async #discard(built: BuiltUnit | undefined): Promise<void> {
    if (built !== undefined) await this.#ingest?.discard(built.tables)
  }
}

function beginsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  return compareBytes(key.subarray(0, prefix.length), prefix) === 0
}
