/**
 * The sharded Bloom index over a collection: segments in ordinal order, the last one open.
 *
 * Life of a segment: parameters chosen → documents added → checkpointed chunk by chunk → full → sealed. The very first
 * segment starts with general parameters and is rebuilt from the stored documents at 1,024 and at 4,096 documents, with
 * parameters chosen from them; every other segment takes its parameters from a sample of the one before.
 */
import type { PairHasher } from '../bloom/hash.ts'
import { loadHasher } from '../bloom/hash.ts'
import { type RowMemory, rowMemory } from '../bloom/kernels/index.ts'
import { PetalError } from '../model/errors.ts'
import { nextTurn, TimeSlice, yieldIfTurnLong } from '../model/time-slice.ts'
import type { Document } from '../model/types.ts'
import { Adoption } from './bulk/adoption.ts'
import type { AcceptedForm, JsonForm } from './byte-scan/json-form.ts'
import type { NotWritten } from './byte-scan/json-writer.ts'
import type {
  BulkIndex,
  DocumentIndex,
  IndexRebuild,
  IndexStats,
  IndexStore,
  IndexTuning,
  IndexWrite
} from './document-index.ts'
import { IndexParts } from './index-parts.ts'
import { hasSegments, loadSegments, markedDead } from './loading.ts'
import { OrdinalSet } from './ordinal-set.ts'
import type { FlatDocument } from './pairs/flatten.ts'
import { DeadSegments } from './rebuild/dead-segments.ts'
import type { RebuildRange } from './rebuild/rebuild.ts'
import { Rebuilds } from './rebuild/rebuilds.ts'
import type { RemoteBuilder } from './rebuild/remote-builder.ts'
import { CheckedStore } from './records/checked-store.ts'
import { HeaderRecord } from './records/header-record.ts'
import { decodeHeader, type IndexHeader } from './records/index-header.ts'
import { IndexArea, indexKey, indexRange } from './records/index-keys.ts'
import { defaultSegmentDocuments, type Geometry, geometryOf } from './segment/geometry.ts'
import { LiveBitmap } from './segment/live.ts'
import type { OpenSegment } from './segment/open-segment.ts'
import { RowCache } from './segment/row-cache.ts'
import { SegmentHandle } from './segment/segment-handle.ts'
import type { ShardedIndexOptions } from './sharded-index-options.ts'
import { indexStats } from './stats.ts'
import { initialParameters } from './tune/segment-parameters.ts'
import { readChoice, type StoredChoice, withChoice, writeChoice } from './tune/stored-choice.ts'
import { checkTuning, type TuningOptions } from './tune/tuning-options.ts'
import { ShardedView } from './view.ts'

const defaultCacheBytes = 256 << 20

export function createShardedIndex(options: ShardedIndexOptions): DocumentIndex {
  return new ShardedIndex(options)
}

export class ShardedIndex implements DocumentIndex {
  readonly #options: ShardedIndexOptions
  readonly #store: IndexStore
  /** The caller's choice until open() has read the header. */
  #geometry: Geometry
  #tuning: TuningOptions
  readonly #memory: RowMemory
  readonly #cache: RowCache
  readonly #handles: SegmentHandle[] = []
  readonly #header: HeaderRecord
  /** undefined until open() has read the header. */
  #parts: IndexParts | undefined
  /** The records may be gone by now, or another index's. */
  #isDiscarded = false
  #recovered = 0
  readonly #rebuilds: Rebuilds
  readonly #dead: DeadSegments
  readonly bulk: BulkIndex
  onMaintenanceDue: (() => Promise<void>) | undefined

  constructor(options: ShardedIndexOptions) {
    this.#options = options
    this.#store = new CheckedStore(options.store)
    this.#header = new HeaderRecord(this.#store, options.onDamage)
    this.#rebuilds = new Rebuilds(this.#store, this.#handles)
    this.#dead = new DeadSegments(this.#handles, this.#rebuilds)
    this.#geometry = geometryOf(options.segmentDocuments ?? defaultSegmentDocuments)
    this.#tuning = checkTuning(options)
    this.#memory = rowMemory()
    this.#cache = new RowCache(this.#memory, options.cacheBytes ?? defaultCacheBytes)
    this.bulk = new Adoption(this.#handles, this.#rebuilds, () => ({
      parts: this.#openParts,
      geometry: this.#geometry,
      tuning: this.#tuning,
      seeds: this.#header.seeds
    }))
  }

  get isMaintenanceDue(): boolean {
    return (this.#parts?.maintenance.isDue ?? false) || this.#dead.isDue
  }

  async open(nextOrdinal: number, documents: number): Promise<void> {
    // The first index of a process has just allocated its memory.
    await nextTurn()
    const stored = await this.#store.get(indexKey(IndexArea.header))
    const { shape, header, damage } = decodeHeader(stored, this.#options)
    this.#geometry = geometryOf(shape.segmentDocuments)
    const hasher = await loadHasher(shape.hash)
    this.#tuning = checkTuning(withChoice(this.#options, await readChoice(this.#store)))
    try {
      if (stored === undefined && (await hasSegments(this.#options.store))) {
        this.#header.note('The header of the index is missing or unreadable')
      }
      if (damage !== undefined) this.#header.noteReported(damage)
      if (header === undefined || !(await this.#load(hasher, header))) await this.#recreate(hasher)
      await this.#recover(nextOrdinal)
      const live = this.liveCount(nextOrdinal)
      if (live === documents) return
      // A lost dead mark, for example. Whatever the cause, counts would be wrong.
      this.#header.note(`The index has ${live} live documents, but the store has ${documents}`)
      this.#freeSegments()
      await this.#recreate(hasher)
      await this.#recover(nextOrdinal)
    } catch (error) {
      this.discard()
      throw error
    }
  }

  /** Frees everything and writes nothing: the end of close(), and the cleanup after a failed open. */
  discard(): void {
    this.#isDiscarded = true
    this.#parts?.close()
    this.#freeSegments()
  }

  flatten(document: Document): FlatDocument {
    return this.#openParts.flattener.flatten(document)
  }

  add(ordinal: number, flat: FlatDocument): void {
    this.#fillGap(ordinal)
    this.#openSegment(ordinal).add(flat)
    const { maintenance, byteIngest } = this.#parts!
    maintenance.observeFlat(flat)
    byteIngest?.learn(flat)
  }

  write(ordinal: number, document: Document): Uint8Array | NotWritten | undefined {
    const open = this.#openAt(ordinal)
    if (open === undefined) return undefined
    const { maintenance, byteIngest } = this.#parts!
    return byteIngest?.write(open, document, maintenance.wantsSample)
  }

  addBytes(ordinal: number, bytes: Uint8Array, offset: number, length: number, form: JsonForm = 'json'): AcceptedForm {
    const open = this.#openAt(ordinal)
    if (open === undefined) return false
    const { maintenance, byteIngest } = this.#parts!
    if (byteIngest === undefined) return false
    const onPairs = maintenance.wantsSample ? maintenance.observe : undefined
    const accepted = byteIngest.add(open, bytes, offset, length, form, onPairs)
    if (accepted !== false && onPairs === undefined) maintenance.noteUnobserved()
    return accepted
  }

  /** The open segment, if `ordinal` is its next one. Only add() begins segments and fills gaps. */
  #openAt(ordinal: number): OpenSegment | undefined {
    const last = this.#handles.at(-1)
    if (last?.open === undefined || last.endOrdinal !== ordinal) return undefined
    return this.#parts!.maintenance.isComplete(last) ? undefined : last.open
  }

  removal(ordinal: number): IndexWrite {
    return { key: indexKey(IndexArea.dead, ordinal), value: new Uint8Array(0) }
  }

  remove(ordinal: number): void {
    const handle = this.#handleOf(ordinal)
    handle?.remove(ordinal)
    if (handle !== undefined) this.#dead.note(handle)
    this.#parts!.maintenance.noteDead(ordinal)
    this.#rebuilds.noteRemoved(ordinal)
  }

  async maintain(limit: number): Promise<void> {
    const { maintenance } = this.#parts!
    await maintenance.run(limit)
    await this.#dead.drop(() => maintenance.keepParameters())
  }

  /** Stores which documents are dead, so that it is known without the caller's marks. */
  storeDead(): Promise<void> {
    return this.#parts!.maintenance.foldDead()
  }

  async close(limit: number): Promise<void> {
    try {
      await this.#rebuilds.whenIdle()
      await this.#parts?.maintenance.finish(limit)
    } finally {
      this.discard()
    }
  }

  capture(limit: number, hidden = OrdinalSet.empty): ShardedView {
    const { pairHash } = this.#openParts
    return new ShardedView({ memory: this.#memory, cache: this.#cache, pairHash }, this.#handles, limit, hidden)
  }

  liveCount(limit: number): number {
    let count = 0
    for (const handle of this.#handles) count += handle.liveCount(limit)
    return count
  }

  get tuning(): IndexTuning {
    const { segmentDocuments } = this.#geometry
    return { ...this.#tuning, segmentDocuments, hash: this.#header.hash ?? this.#options.hash ?? 'murmur' }
  }

  async retune(choice: StoredChoice): Promise<void> {
    await writeChoice(this.#store, choice)
    this.#tuning = checkTuning(withChoice(this.#options, choice))
  }

  beginRebuild(limit: number, remote?: RemoteBuilder): Promise<IndexRebuild> {
    return this.#beginRebuild(limit, this.bulk.plan() && remote)
  }

  /** As beginRebuild(), for a range of ordinals. */
  beginRebuildOf(range: RebuildRange, limit: number): Promise<IndexRebuild> {
    return this.#beginRebuild(limit, undefined, range)
  }

  async #beginRebuild(limit: number, remote: RemoteBuilder | undefined, range?: RebuildRange): Promise<IndexRebuild> {
    this.#rebuilds.assertNone()
    const { maintenance, building } = this.#parts!
    await maintenance.prepare()
    // An aborted rebuild may have left a segment before the last one to be sealed.
    if (maintenance.isWorkDue) await maintenance.run(limit)
    const last = this.#handles.at(-1)
    if (last?.open !== undefined) last.isClosed = true
    if (last?.open !== undefined && range !== undefined) await maintenance.run(limit)
    return this.#rebuilds.begin({ ...building, limit, remote, plan: () => this.bulk.plan() }, range)
  }

  stats(): IndexStats {
    return indexStats(this.#handles, this.#cache, this.#recovered, this.#header)
  }

  get #openParts(): IndexParts {
    if (this.#parts === undefined) throw new PetalError('InternalError', 'The index was used before it was opened')
    return this.#parts
  }

  #assemble(hasher: PairHasher, header: IndexHeader): void {
    this.#parts?.close()
    const context = {
      store: this.#store,
      documents: this.#options.documents,
      memory: this.#memory,
      cache: this.#cache,
      geometry: this.#geometry,
      tuning: () => this.#tuning,
      handles: this.#handles,
      onDamage: (message: string) => {
        if (!this.#isDiscarded) this.#header.markDamaged(message)
      },
      onMaintenanceDue: async () => this.onMaintenanceDue?.()
    }
    this.#parts = new IndexParts(context, hasher, header)
  }

  // Deletes all records of the index and begins an empty one.
  async #recreate(hasher: PairHasher): Promise<void> {
    for (const area of Object.values(IndexArea)) {
      await this.#store.clear(...indexRange(area))
      await yieldIfTurnLong()
    }
    const { segmentDocuments } = this.#geometry
    this.#assemble(hasher, this.#header.create({ hash: hasher.name, segmentDocuments }, this.#options.seed))
    await this.#header.write()
  }

  /** Loads the stored index. @returns false when it is damaged and has to be rebuilt */
  async #load(hasher: PairHasher, header: IndexHeader): Promise<boolean> {
    this.#assemble(hasher, header)
    try {
      await this.#header.load(header)
      for await (const handle of loadSegments(this.#parts!.stored)) this.#handles.push(handle)
      for await (const ordinal of markedDead(this.#store)) this.remove(ordinal)
      this.#parts!.maintenance.resume()
      await this.#rebuilds.clearLeftovers()
      return true
    } catch (error) {
      if (!(error instanceof PetalError) || error.codeName !== 'IndexDamaged') throw error
      this.#header.note(error.message)
      this.#freeSegments()
      return false
    }
  }

  /** Indexes the stored documents that the index lacks: all since the last checkpoint. */
  async #recover(nextOrdinal: number): Promise<void> {
    const from = this.#handles.at(-1)?.endOrdinal ?? 0
    const maintenance = this.#parts!.maintenance
    const timeSlice = new TimeSlice()
    for await (const [ordinal, document] of this.#options.documents.read(from, nextOrdinal)) {
      if (maintenance.isDue) await maintenance.prepare()
      this.add(ordinal, this.flatten(document))
      this.#recovered++
      if (maintenance.isDue) await maintenance.run(ordinal + 1)
      if (timeSlice.isOver()) await timeSlice.renew()
    }
  }

  /**
   * Fills ordinals below `ordinal` that no document took: they are dead from the start. Without a segment, or when they
   * are many, no segment covers them.
   */
  #fillGap(ordinal: number): void {
    const last = this.#handles.at(-1)
    if (last === undefined) return
    if (last.open === undefined || ordinal - last.endOrdinal > this.#geometry.chunkDocuments) {
      last.isClosed = true
      return
    }
    for (let missing = last.endOrdinal; missing < ordinal; missing++) {
      this.#openSegment(missing).skip()
      this.#handles.at(-1)!.remove(missing)
    }
  }

  /** Returns the segment that takes the document with this ordinal; a complete one is followed by a new one. */
  #openSegment(ordinal: number): OpenSegment {
    const last = this.#handles.at(-1)
    if (last?.isReady === false) throw new PetalError('InternalError', 'Documents were added before maintain()')
    if (last?.open !== undefined && !this.#parts!.maintenance.isComplete(last)) return last.open
    const parameters =
      last === undefined ? initialParameters(this.#tuning) : this.#parts!.maintenance.nextParameters(last)
    const segment = this.#parts!.createOpenSegment(ordinal, parameters)
    this.#handles.push(new SegmentHandle(segment, new LiveBitmap(this.#geometry.segmentDocuments)))
    return segment
  }

  #handleOf(ordinal: number): SegmentHandle | undefined {
    for (let i = this.#handles.length - 1; i >= 0; i--) {
      const handle = this.#handles[i]!
      if (handle.firstOrdinal <= ordinal) return ordinal < handle.endOrdinal ? handle : undefined
    }
    return undefined
  }

  #freeSegments(): void {
    this.#rebuilds.free()
    for (const handle of this.#handles) handle.segment.free()
    this.#handles.length = 0
  }
}
