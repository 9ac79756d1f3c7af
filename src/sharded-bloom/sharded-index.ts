/**
 * The sharded Bloom index over a collection: segments in ordinal order, the last one open.
 *
 * Life of a segment: parameters chosen → documents added → checkpointed chunk by chunk → full → sealed. The very first
 * one starts with general parameters and is built again, from the stored documents, when 1,024 and 4,096 of them have
 * shown what they are like; every other one takes its parameters from a sample of the one before.
 */
import type { PairHasher } from '../bloom/hash.ts'
import { loadHasher } from '../bloom/hash.ts'
import { type RowMemory, rowMemory } from '../bloom/kernels/index.ts'
import { PetalError } from '../model/errors.ts'
import { breathe, nextTurn, turnIfLong } from '../model/time-slice.ts'
import type { Document } from '../model/types.ts'
import { ByteIngest } from './byte-scan/byte-ingest.ts'
import type { NotWritten } from './byte-scan/json-writer.ts'
import type { JsonForm } from './byte-scan/scanner.ts'
import { StoredIngest } from './byte-scan/stored-ingest.ts'
import type { DocumentIndex, IndexRebuild, IndexStats, IndexStore, IndexTuning, IndexWrite } from './document-index.ts'
import { hasSegments, loadSegments, markedDead } from './loading.ts'
import { Maintenance } from './maintenance.ts'
import { type FlatDocument, Flattener } from './pairs/flatten.ts'
import { PairHash } from './pairs/pair-hash.ts'
import type { RebuildRange } from './rebuild/rebuild.ts'
import { Rebuilds } from './rebuild/rebuilds.ts'
import { storedDocuments } from './rebuild/stored-documents.ts'
import { CheckedStore } from './records/checked-store.ts'
import { createHeader, decodeHeader, encodeHeader, type IndexHeader, indexFormat } from './records/index-header.ts'
import { IndexArea, indexKey, indexRange } from './records/index-keys.ts'
import { defaultSegmentDocuments, type Geometry, geometryOf } from './segment/geometry.ts'
import { LiveBitmap } from './segment/live.ts'
import { OpenSegment } from './segment/open-segment.ts'
import { RowCache } from './segment/row-cache.ts'
import type { SealedContext } from './segment/sealed-segment.ts'
import type { SegmentParameters } from './segment/segment.ts'
import { SegmentHandle } from './segment/segment-handle.ts'
import type { ShardedIndexOptions } from './sharded-index-options.ts'
import { indexStats } from './stats.ts'
import { readChoice, type StoredChoice, withChoice, writeChoice } from './tune/stored-choice.ts'
import { checkTuning, initialParameters, type TuningOptions } from './tune/tuning.ts'
import { ShardedView } from './view.ts'

const defaultCacheBytes = 256 << 20

export function createShardedIndex(options: ShardedIndexOptions): DocumentIndex {
  return new ShardedIndex(options)
}

export class ShardedIndex implements DocumentIndex {
  readonly #options: ShardedIndexOptions
  readonly #store: IndexStore
  /** Until open() has read the header, of what the caller chose. */
  #geometry: Geometry
  #tuning: TuningOptions
  readonly #memory: RowMemory
  readonly #cache: RowCache
  readonly #handles: SegmentHandle[] = []
  #header: IndexHeader | undefined
  #tools: { readonly flattener: Flattener; readonly pairHash: PairHash } | undefined
  #maintenance: Maintenance | undefined
  #byteIngest: ByteIngest | undefined
  #recovered = 0
  /** The header says that the next open has to build the index again. */
  #isDamaged = false
  readonly #damage: string[] = []
  readonly #rebuilds: Rebuilds

  constructor(options: ShardedIndexOptions) {
    this.#options = options
    this.#store = new CheckedStore(options.store)
    this.#rebuilds = new Rebuilds(this.#store, this.#handles)
    this.#geometry = geometryOf(options.segmentDocuments ?? defaultSegmentDocuments)
    this.#tuning = checkTuning(options)
    this.#memory = rowMemory()
    this.#cache = new RowCache(this.#memory, options.cacheBytes ?? defaultCacheBytes)
  }

  get isMaintenanceDue(): boolean {
    return this.#maintenance?.isDue ?? false
  }

  async open(nextOrdinal: number, documents: number): Promise<void> {
    // The first index of a process has just made its memory.
    await nextTurn()
    const stored = await this.#store.get(indexKey(IndexArea.header))
    const { shape, header } = decodeHeader(stored, this.#options)
    this.#geometry = geometryOf(shape.segmentDocuments)
    const hasher = await loadHasher(shape.hash)
    this.#tuning = checkTuning(withChoice(this.#options, await readChoice(this.#store)))
    try {
      if (stored === undefined && (await hasSegments(this.#options.store))) {
        this.#noteDamage('The header of the index is missing or not readable')
      }
      if (header === undefined || !(await this.#load(hasher, header))) await this.#startAgain(hasher)
      await this.#recover(nextOrdinal)
      const live = this.liveCount(nextOrdinal)
      if (live === documents) return
      // A lost dead mark, say. Whatever it was, it would be counted.
      this.#noteDamage(`The index holds ${live} documents live, the store has ${documents}`)
      this.#freeSegments()
      await this.#startAgain(hasher)
      await this.#recover(nextOrdinal)
    } catch (error) {
      this.#freeSegments()
      throw error
    }
  }

  flatten(document: Document): FlatDocument {
    return this.#flattener.flatten(document)
  }

  add(ordinal: number, flat: FlatDocument): void {
    this.#fillGap(ordinal)
    this.#openSegment(ordinal).add(flat)
    this.#maintenance!.observeFlat(flat)
    this.#byteIngest?.learn(flat)
  }

  write(ordinal: number, document: Document): Uint8Array | NotWritten | undefined {
    const open = this.#openAt(ordinal)
    return open && this.#byteIngest?.write(open, document, this.#maintenance!.wantsSample)
  }

  addBytes(ordinal: number, bytes: Uint8Array, offset: number, length: number, form: JsonForm = 'json'): boolean {
    const open = this.#openAt(ordinal)
    if (open === undefined || this.#byteIngest === undefined) return false
    const maintenance = this.#maintenance!
    const onPairs = maintenance.wantsSample ? maintenance.observe : undefined
    const isAdded = this.#byteIngest.add(open, bytes, offset, length, form, onPairs)
    if (isAdded && onPairs === undefined) maintenance.noteUnobserved()
    return isAdded
  }

  /** The segment whose next document is at `ordinal`. Segments begin, and gaps are filled, with add(). */
  #openAt(ordinal: number): OpenSegment | undefined {
    const last = this.#handles.at(-1)
    if (last?.open === undefined || last.endOrdinal !== ordinal || this.#maintenance!.isComplete(last)) return undefined
    return last.open
  }

  removal(ordinal: number): IndexWrite {
    return { key: indexKey(IndexArea.dead, ordinal), value: new Uint8Array(0) }
  }

  remove(ordinal: number): void {
    this.#handleOf(ordinal)?.remove(ordinal)
    this.#maintenance!.noteDead(ordinal)
    this.#rebuilds.noteRemoved(ordinal)
  }

  maintain(limit: number): Promise<void> {
    return this.#maintenance!.run(limit)
  }

  async close(limit: number): Promise<void> {
    try {
      await this.#rebuilds.settle()
      if (this.#maintenance !== undefined) await this.#maintenance.finish(limit)
    } finally {
      this.#maintenance?.close()
      this.#byteIngest?.close()
      this.#freeSegments()
    }
  }

  capture(limit: number): ShardedView {
    const { pairHash } = this.#openTools
    return new ShardedView({ memory: this.#memory, cache: this.#cache, pairHash }, this.#handles, limit)
  }

  liveCount(limit: number): number {
    let count = 0
    for (const handle of this.#handles) count += handle.liveCount(limit)
    return count
  }

  get tuning(): IndexTuning {
    const { segmentDocuments } = this.#geometry
    return { ...this.#tuning, segmentDocuments, hash: this.#header?.hash ?? this.#options.hash ?? 'murmur' }
  }

  async retune(choice: StoredChoice): Promise<void> {
    await writeChoice(this.#store, choice)
    this.#tuning = checkTuning(withChoice(this.#options, choice))
  }

  /** @param range of ordinals to be built; all that there are, unless told otherwise */
  async beginRebuild(limit: number, range?: RebuildRange): Promise<IndexRebuild> {
    this.#rebuilds.assertNone()
    await this.#maintenance!.prepare()
    const last = this.#handles.at(-1)
    if (last?.open !== undefined) {
      last.isClosed = true
      await this.#maintenance!.run(limit)
    }
    const { documents } = this.#options
    const { flattener, pairHash } = this.#tools!
    const context = {
      readStored: (from: number, to: number) => storedDocuments(documents, from, to),
      sealed: this.#sealedContext(pairHash),
      geometry: this.#geometry,
      tuning: () => this.#tuning,
      flatten: (document: Document) => flattener.flatten(document),
      scannerSeed: this.#byteIngest && ((path: string) => flattener.seedOf(path)),
      createOpen: (firstOrdinal: number, parameters: SegmentParameters) => this.#createOpen(firstOrdinal, parameters)
    }
    return this.#rebuilds.begin(context, range)
  }

  stats(): IndexStats {
    return indexStats(this.#handles, this.#cache, this.#recovered, this.#damage)
  }

  get #openTools(): { readonly flattener: Flattener; readonly pairHash: PairHash } {
    if (this.#tools === undefined) throw new PetalError('InternalError', 'The index is used before it is open')
    return this.#tools
  }

  get #flattener(): Flattener {
    return this.#openTools.flattener
  }

  #createTools(hasher: PairHasher, header: IndexHeader): void {
    const flattener = new Flattener(hasher, { lo: header.seedLo, hi: header.seedHi })
    const pairHash = new PairHash(hasher, (path) => flattener.seedOf(path))
    this.#tools = { flattener, pairHash }
    this.#byteIngest?.close()
    // The scanner knows one hash.
    this.#byteIngest = hasher.name === 'murmur' ? new ByteIngest((path) => flattener.seedOf(path)) : undefined
    this.#maintenance = new Maintenance({
      store: this.#store,
      documents: this.#options.documents,
      memory: this.#memory,
      geometry: this.#geometry,
      tuning: () => this.#tuning,
      handles: this.#handles,
      ingest: new StoredIngest((document) => flattener.flatten(document), this.#byteIngest),
      createOpen: (firstOrdinal, parameters) => this.#createOpen(firstOrdinal, parameters),
      sealed: this.#sealedContext(pairHash)
    })
  }

  #sealedContext(pairHash: PairHash): SealedContext {
    const store = this.#store
    return {
      memory: this.#memory,
      cache: this.#cache,
      store,
      pairHash,
      onDamage: (message) => {
        if (this.#isDamaged) return
        this.#isDamaged = true
        this.#noteDamage(message)
        const header = encodeHeader({ ...this.#header!, isDamaged: true })
        // A failure to write it down changes nothing: the damage will be met again.
        store.write([{ key: indexKey(IndexArea.header), value: header }]).catch(() => undefined)
      }
    }
  }

  #createOpen(firstOrdinal: number, parameters: SegmentParameters): OpenSegment {
    return new OpenSegment(this.#memory, this.#geometry, this.#tools!.pairHash, firstOrdinal, parameters)
  }

  async #startAgain(hasher: PairHasher): Promise<void> {
    const store = this.#store
    for (const area of Object.values(IndexArea)) {
      await store.clear(...indexRange(area))
      await turnIfLong()
    }
    const { segmentDocuments } = this.#geometry
    this.#header = createHeader({ hash: hasher.name, segmentDocuments }, this.#options.seed)
    this.#createTools(hasher, this.#header)
    await store.write([{ key: indexKey(IndexArea.header), value: encodeHeader(this.#header) }])
  }

  /** The stored index. @returns false where it is damaged: it has to be built again */
  async #load(hasher: PairHasher, header: IndexHeader): Promise<boolean> {
    this.#header = { ...header, format: indexFormat }
    this.#createTools(hasher, header)
    try {
      if (header.format !== indexFormat) await this.#raiseFormat()
      await this.#loadSegments()
      this.#maintenance!.resume()
      await this.#rebuilds.clearLeftovers()
      return true
    } catch (error) {
      if (!(error instanceof PetalError) || error.codeName !== 'IndexDamaged') throw error
      this.#noteDamage(error.message)
      this.#freeSegments()
      return false
    }
  }

  /** Before the first record of this format is written. A read-only store stays as it is: nothing will be written. */
  async #raiseFormat(): Promise<void> {
    try {
      await this.#store.write([{ key: indexKey(IndexArea.header), value: encodeHeader(this.#header!) }])
    } catch (error) {
      if (!(error instanceof PetalError) || error.codeName !== 'IllegalOperation') throw error
    }
  }

  #noteDamage(message: string): void {
    this.#damage.push(message)
    this.#options.onDamage?.(message)
  }

  async #loadSegments(): Promise<void> {
    const { documents } = this.#options
    const { flattener, pairHash } = this.#tools!
    const loading = loadSegments({
      documents,
      geometry: this.#geometry,
      sealed: this.#sealedContext(pairHash),
      flatten: (document) => flattener.flatten(document)
    })
    for await (const handle of loading) this.#handles.push(handle)
    for await (const ordinal of markedDead(this.#store)) this.remove(ordinal)
  }

  /** Indexes what is stored but not indexed: everything since the last checkpoint. */
  async #recover(nextOrdinal: number): Promise<void> {
    const from = this.#handles.at(-1)?.endOrdinal ?? 0
    const maintenance = this.#maintenance!
    let sliceStart = performance.now()
    for await (const [ordinal, document] of this.#options.documents.read(from, nextOrdinal)) {
      if (maintenance.isDue) await maintenance.prepare()
      this.add(ordinal, this.flatten(document))
      this.#recovered++
      if (maintenance.isDue) await maintenance.run(ordinal + 1)
      sliceStart = await breathe(sliceStart)
    }
  }

  /** Ordinals up to `ordinal` that no document took: dead from the start, or, where they are many, in no segment. */
  #fillGap(ordinal: number): void {
    const last = this.#handles.at(-1)
    if (last === undefined) return
    if (ordinal - last.endOrdinal > this.#geometry.chunkDocuments) {
      last.isClosed = true
      return
    }
    for (let missing = last.endOrdinal; missing < ordinal; missing++) {
      this.#openSegment(missing).skip()
      this.#handles.at(-1)!.remove(missing)
    }
  }

  /** The segment that takes the document with this ordinal; a full one is followed by a new one. */
  #openSegment(ordinal: number): OpenSegment {
    const last = this.#handles.at(-1)
    if (last?.isReady === false) throw new PetalError('InternalError', 'Documents are added before maintain()')
    if (last?.open !== undefined && !this.#maintenance!.isComplete(last)) return last.open
    const parameters = last === undefined ? initialParameters(this.#tuning) : this.#maintenance!.nextParameters(last)
    const segment = this.#createOpen(ordinal, parameters)
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
