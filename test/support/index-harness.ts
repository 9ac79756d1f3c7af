/**
 * An index over documents in memory: the store and the document source that createShardedIndex() takes, with records
 * that a test can copy, damage or count.
 */
import * as assert from 'uvu/assert'
import type { PairExpression } from '../../src/model/pairs.ts'
import type { Document } from '../../src/model/types.ts'
import type { CompiledFilter } from '../../src/query/filter.ts'
import type {
  DocumentIndex,
  DocumentSource,
  IndexStore,
  IndexView,
  IndexWrite,
  SegmentCandidates
} from '../../src/sharded-bloom/document-index.ts'
import { OrdinalSet } from '../../src/sharded-bloom/ordinal-set.ts'
import { IndexArea } from '../../src/sharded-bloom/records/index-keys.ts'
import { createShardedIndex } from '../../src/sharded-bloom/sharded-index.ts'
import type { ShardedIndexOptions } from '../../src/sharded-bloom/sharded-index-options.ts'
import { encodeStored } from './scanned-segments.ts'

/** What getTransient() returned last. */
const transient = new Uint8Array(64 << 10)

export class RecordMap implements IndexStore {
  readonly records: Map<string, Uint8Array>
  /** Reads return promises, like those of a store without synchronous reads. */
  isAsync = false
  /** Delays reads until it resolves. */
  heldBack: Promise<void> | undefined
  /** Keys that were deleted although they did not exist, in hex. */
  readonly deletedInVain = new Set<string>()
  /** Number of writes that still succeed; all later ones throw. */
  failAfterWrites = Number.POSITIVE_INFINITY

  constructor(records: Iterable<readonly [string, Uint8Array]> = []) {
    this.records = new Map(records)
  }

  get(key: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const value = this.records.get(hex(key))
    if (this.heldBack !== undefined) return this.heldBack.then(() => value)
    return this.isAsync ? new Promise((resolve) => setImmediate(() => resolve(value))) : value
  }

  getTransient(key: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const value = this.get(key)
    // Whoever keeps transient bytes finds them changed.
    transient.fill(0xa5)
    if (!(value instanceof Uint8Array) || value.length > transient.length) return value
    transient.set(value)
    return transient.subarray(0, value.length)
  }

  async write(operations: readonly IndexWrite[]): Promise<void> {
    this.#countWrite()
    for (const { key, value } of operations) {
      if (value === undefined) {
        if (!this.records.delete(hex(key))) this.deletedInVain.add(hex(key))
      } else this.records.set(hex(key), value.slice())
    }
  }

  async clear(from: Uint8Array, to: Uint8Array): Promise<void> {
    this.#countWrite()
    for (const key of [...this.records.keys()]) if (key >= hex(from) && key < hex(to)) this.records.delete(key)
  }

  async *scan(from: Uint8Array, to: Uint8Array): AsyncGenerator<readonly [Uint8Array, Uint8Array]> {
    for (const key of [...this.records.keys()].sort()) {
      const value = this.records.get(key)
      if (value !== undefined && key >= hex(from) && key < hex(to)) yield [Buffer.from(key, 'hex'), value]
    }
  }

  /** Keys of one area (see index-keys.ts), ascending. */
  keysOf(area: number, keys: Iterable<string> = this.records.keys()): string[] {
    const prefix = hex(Uint8Array.of(area))
    return [...keys].filter((key) => key.startsWith(prefix)).sort()
  }

  /** Numbers of the segments that have records, apart from the directory, ascending. */
  segmentNumbers(): number[] {
    const { hashedRows, privateRow, columnKeys, upperLevel, live, positions } = IndexArea
    const areas = [hashedRows, privateRow, columnKeys, upperLevel, live, positions]
    const numbers = areas.flatMap((area) => this.keysOf(area).map((key) => Number(`0x${key.slice(2, 18)}`)))
    return [...new Set(numbers)].sort((a, b) => a - b)
  }

  #countWrite(): void {
    if (--this.failAfterWrites < 0) throw new Error('injected write failure')
  }
}

export class DocumentMap implements DocumentSource {
  readonly documents = new Map<number, Document>()

  async *read(from: number, to: number): AsyncGenerator<readonly [number, Document]> {
    for (const [ordinal, document] of [...this.documents].sort(([a], [b]) => a - b)) {
      if (ordinal >= from && ordinal < to) yield [ordinal, document]
    }
  }
}

export type HarnessOptions = Omit<ShardedIndexOptions, 'store' | 'documents' | 'onDamage'>

/** The parts of a collection that matter to its index: documents, records, the next ordinal. */
export class IndexHarness {
  readonly options: HarnessOptions
  records: RecordMap
  readonly source: DocumentMap
  /** All ordinals below it are committed. */
  limit: number
  /** Documents are offered to the index as bytes, which it may refuse. */
  usesBytes = false
  /** Number of documents that it took as bytes. */
  scanned = 0
  /** Messages passed to onDamage. */
  readonly damage: string[] = []
  #index: DocumentIndex | undefined

  constructor(options: HarnessOptions = {}, records = new RecordMap(), source = new DocumentMap(), limit = 0) {
    this.options = options
    this.records = records
    this.source = source
    this.limit = limit
  }

  static async open(options: HarnessOptions = {}): Promise<IndexHarness> {
    const harness = new IndexHarness(options)
    await harness.open()
    return harness
  }

  get index(): DocumentIndex {
    assert.ok(this.#index, 'the index is open')
    return this.#index
  }

  get documents(): ReadonlyMap<number, Document> {
    return this.source.documents
  }

  async open(): Promise<void> {
    const onDamage = (message: string): void => {
      this.damage.push(message)
    }
    this.#index = createShardedIndex({ ...this.options, store: this.records, documents: this.source, onDamage })
    await this.#index.open(this.limit, this.source.documents.size)
  }

  /** Adds and commits without maintenance. Returns the first ordinal. */
  add(documents: Iterable<Document>): number {
    const first = this.limit
    for (const document of documents) {
      if (!this.#addBytes(document)) this.index.add(this.limit, this.index.flatten(document))
      this.source.documents.set(this.limit++, document)
    }
    return first
  }

  #addBytes(document: Document): boolean {
    if (!this.usesBytes) return false
    const { bytes, form } = encodeStored(document)
    const told = this.index.addBytes?.(this.limit, bytes, 0, bytes.length, form)
    if (told) this.scanned++
    return told === form
  }

  /** Adds in batches, with maintenance in between, like the document store. */
  async insert(documents: readonly Document[], batch = 100): Promise<void> {
    await this.maintain()
    for (let begin = 0; begin < documents.length; begin += batch) {
      this.add(documents.slice(begin, begin + batch))
      await this.maintain()
    }
  }

  /** Adds a batch that the store then refuses: its ordinals are never committed. */
  failBatch(documents: readonly Document[]): void {
    documents.forEach((document, i) => {
      this.index.add(this.limit + i, this.index.flatten(document))
    })
    for (let i = 0; i < documents.length; i++) this.index.remove(this.limit + i)
  }

  /** Leaves ordinals unused for ever. */
  skip(count: number): void {
    this.limit += count
  }

  async remove(ordinals: Iterable<number>): Promise<void> {
    for (const ordinal of ordinals) {
      if (!this.source.documents.delete(ordinal)) continue
      // The mark is written in the batch that deletes the document, and that batch does not fail here.
      const { key, value } = this.index.removal(ordinal)
      this.records.records.set(hex(key), value ?? new Uint8Array(0))
      this.index.remove(ordinal)
    }
  }

  async maintain(): Promise<void> {
    if (this.index.isMaintenanceDue) await this.index.maintain(this.limit)
  }

  /** Rebuilds the index; `meanwhile` runs between building and publishing. */
  async rebuild(meanwhile: () => void | Promise<void> = () => undefined): Promise<void> {
    const rebuild = await this.index.beginRebuild!(this.limit)
    try {
      await rebuild.build()
      await meanwhile()
      await rebuild.publish()
    } finally {
      await rebuild.end()
    }
  }

  async close(): Promise<void> {
    await this.index.close(this.limit)
    this.#index = undefined
  }

  async reopen(): Promise<void> {
    await this.close()
    await this.open()
  }

  /** The state after a crash now: a copy of the records and documents, in a harness that is not open. */
  crashed(): IndexHarness {
    const source = new DocumentMap()
    for (const [ordinal, document] of this.source.documents) source.documents.set(ordinal, document)
    const copy = new RecordMap(this.records.records)
    copy.isAsync = this.records.isAsync
    return new IndexHarness(this.options, copy, source, this.limit)
  }

  /** @param hidden ordinals that the view does not show */
  snapshot(hidden: readonly number[] = []): IndexSnapshot {
    const documents = new Map(this.source.documents)
    for (const ordinal of hidden) documents.delete(ordinal)
    return new IndexSnapshot(this.index.capture(this.limit, OrdinalSet.empty.with(hidden)), documents)
  }

  /** Checks every filter against every document. */
  async check(filters: readonly CompiledFilter[]): Promise<SoundnessTally> {
    assert.is(this.index.liveCount(this.limit), this.documents.size, 'documents counted live')
    return this.snapshot().check(filters)
  }
}

export interface SoundnessTally {
  pairs: number
  matches: number
  candidates: number
  certain: number
}

/** A view, and the documents it must see. */
export class IndexSnapshot {
  readonly view: IndexView
  readonly documents: ReadonlyMap<number, Document>

  constructor(view: IndexView, documents: ReadonlyMap<number, Document>) {
    this.view = view
    this.documents = documents
  }

  /** Checks that lower ⊆ matches ⊆ upper, and that upper has only ordinals of documents. */
  async check(filters: readonly CompiledFilter[]): Promise<SoundnessTally> {
    const tally: SoundnessTally = { pairs: 0, matches: 0, candidates: 0, certain: 0 }
    for (const filter of filters) {
      const { upper, certain } = await this.evaluate(filter)
      for (const [ordinal, document] of this.documents) {
        const matches = filter.matches(document)
        tally.pairs++
        if (matches) tally.matches++
        if (matches && !upper.has(ordinal)) assert.unreachable(`a match at ordinal ${ordinal} is not in upper`)
        if (!matches && certain.has(ordinal)) assert.unreachable(`ordinal ${ordinal} is in lower and does not match`)
      }
      for (const ordinal of upper) {
        if (!this.documents.has(ordinal)) assert.unreachable(`ordinal ${ordinal} is in upper and has no document`)
      }
      tally.candidates += upper.size
      tally.certain += certain.size
    }
    return tally
  }

  /** Ordinals of upper and lower, over all segments. */
  async evaluate({ bounds }: Pick<CompiledFilter, 'bounds'>): Promise<{ upper: Set<number>; certain: Set<number> }> {
    const upper = new Set<number>()
    const certain = new Set<number>()
    let end = 0
    for (let i = 0; i < this.view.segmentCount; i++) {
      const isSkipped = this.#skips(i, bounds)
      const segment = await this.view.evaluate(i, bounds)
      if (isSkipped || this.#skips(i, bounds)) assert.is(segment.upperCount, 0, `segment ${i} is skipped`)
      assert.ok(segment.firstOrdinal >= end, 'segments ascend')
      end = segment.endOrdinal
      assert.ok(end <= this.view.limit, 'nothing is seen beyond the limit')
      collect(segment, upper, certain)
    }
    return { upper, certain }
  }

  #skips(segment: number, bounds: PairExpression): boolean {
    const skipped = this.view.skip?.(segment, bounds, 1) ?? 0
    assert.ok(segment + skipped <= this.view.segmentCount)
    assert.is((this.view.skip?.(segment, bounds, -1) ?? 0) > 0, skipped > 0, 'either direction')
    return skipped > 0
  }
}

/** Checks that all ways of querying a segment agree. */
function collect(segment: SegmentCandidates, upper: Set<number>, certain: Set<number>): void {
  let last = segment.firstOrdinal - 1
  let certainCount = 0
  for (let i = 0; i < segment.upperCount; i++) {
    const ordinal = segment.ordinal(i)
    assert.ok(ordinal > last && ordinal < segment.endOrdinal, 'candidates ascend within the segment')
    last = ordinal
    upper.add(ordinal)
    if (!segment.has(ordinal)) assert.unreachable(`has(${ordinal}) denies a candidate`)
    if (!segment.isCertain(i)) continue
    certain.add(ordinal)
    certainCount++
  }
  assert.is(certainCount, segment.lowerCount, 'lower is part of upper')
  for (let ordinal = segment.firstOrdinal; ordinal < segment.endOrdinal; ordinal++) {
    if (segment.has(ordinal) && !upper.has(ordinal)) assert.unreachable(`has(${ordinal}) invents a candidate`)
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
