/** The Bloom tail of the open segment: hashed rows (hashed-rows.ts) and the upper level (upper-level.ts). */
import type { IndexStore } from '../../document-index.ts'
import type { PairHash } from '../../pairs/pair-hash.ts'
import { Tag } from '../../pairs/pair-tags.ts'
import { IndexArea, indexKey, indexRange, numberOf } from '../../records/index-keys.ts'
import type { ScratchArena } from '../../records/scratch-arena.ts'
import { framesPerChunk, type Geometry, sealedRowBytes, sealedRowsPerFrame } from '../geometry.ts'
import { HashedRows, storedRowBytes } from '../hashed-rows.ts'
import type { HashedPair } from '../private-table.ts'
import { frameBytes } from '../row-cache.ts'
import type { SegmentParameters } from '../segment.ts'
import type { SegmentRecord } from '../segment-record.ts'
import { allGroups, UpperLevelBuilder } from '../upper-level.ts'
import type { OpenTail, ScannedHashes, TailContext, TailRecord, TailWrite } from './tail.ts'

export class BloomOpenTail implements OpenTail {
  readonly isFull = false
  readonly crowdedDocuments = 0
  readonly #rows: HashedRows
  readonly #upper: UpperLevelBuilder
  readonly #context: TailContext
  readonly #pairHash: PairHash
  readonly #shards: number
  readonly #rowNumbers: Int32Array
  #documents = 0

  constructor(context: TailContext, { shards, rowsPerPair, upperFrames }: SegmentParameters) {
    const { memory, geometry, pairHash } = context
    this.#context = context
    this.#pairHash = pairHash
    this.#shards = shards
    this.#rowNumbers = new Int32Array(rowsPerPair)
    this.#rows = new HashedRows(memory, geometry, shards)
    this.#upper = new UpperLevelBuilder(memory, geometry.segmentDocuments, upperFrames)
  }

  get record(): TailRecord {
    return { shards: this.#shards, rowsPerPair: this.#rowNumbers.length, upper: this.#upper.record }
  }

  isCrowded(): boolean {
    return false
  }

  beginDocument(): void {
    this.#rows.beginDocument()
  }

  /** Returns the rows of the facts, each once: facts are not in the upper level. */
  prepareFacts(hashes: Int32Array): Int32Array {
    const rows = new Set<number>()
    for (let i = 0; i < hashes.length; i += 2) for (const row of this.#rowsOf(hashes[i]!, hashes[i + 1]!)) rows.add(row)
    return Int32Array.from(rows)
  }

  addFacts(prepared: Int32Array): void {
    const rows = this.#rows
    for (let i = 0; i < prepared.length; i++) rows.set(prepared[i]!)
  }

  add(lo: number, hi: number): void {
    this.#upper.add(this.#documents, lo, hi)
    const numbers = this.#rowsOf(lo, hi)
    const rows = this.#rows
    for (let i = 0; i < numbers.length; i++) rows.set(numbers[i]!)
  }

  addScanned({ signature, hashes, hashCount }: ScannedHashes): void {
    this.#rows.setSignature(signature)
    this.#upper.addAll(this.#documents, hashes, hashCount)
  }

  endDocument(): void {
    this.#upper.endDocument(this.#documents)
    this.#documents++
    this.#rows.endDocument()
  }

  groups({ tag, lo, hi }: HashedPair): number {
    return tag > Tag.size ? allGroups : this.#upper.groups(lo, hi)
  }

  and({ lo, hi }: HashedPair, out: number, groups: number): boolean {
    return this.#rows.and(this.#rowsOf(lo, hi), out, groups)
  }

  *chunkWrites(first: number, chunk: number, documents: number, arena: ScratchArena): Generator<TailWrite | undefined> {
    let frame = 0
    for (const bytes of this.#rows.chunkFrames(chunk, documents)) {
      yield { key: indexKey(IndexArea.chunkRows, first, chunk, frame++), value: arena.copyOf(bytes) }
    }
    if (this.#upper.frames === 0) return
    const { chunkDocuments } = this.#context.geometry
    const value = yield* this.#upper.chunk(chunk * chunkDocuments, chunkDocuments)
    yield { key: indexKey(IndexArea.chunkUpper, first, chunk), value }
  }

  *chunkKeys(first: number, chunk: number): Generator<Uint8Array> {
    const frames = framesPerChunk(this.#shards, this.#context.geometry)
    for (let frame = 0; frame < frames; frame++) yield indexKey(IndexArea.chunkRows, first, chunk, frame)
    if (this.#upper.frames > 0) yield indexKey(IndexArea.chunkUpper, first, chunk)
  }

  async restore(record: SegmentRecord, store: IndexStore, damaged: (what: string) => Error): Promise<void> {
    const { geometry } = this.#context
    const { chunkDocuments } = geometry
    const chunks = Math.ceil(record.documents / chunkDocuments)
    this.#rows.restore(record.documents, await readFrames(record, store, geometry, chunks, damaged))
    this.#documents = record.documents
    if (this.#upper.frames > 0) {
      for (let chunk = 0; chunk < chunks; chunk++) {
        // A missing one is no damage: it only saves time.
        const upper = await store.get(indexKey(IndexArea.chunkUpper, record.firstOrdinal, chunk))
        this.#upper.restoreChunk(chunk * chunkDocuments, chunkDocuments, upper)
      }
    }
    this.#upper.markUnknown(record.upper.unknownGroups)
  }

  *sealedWrites(
    storedAt: number,
    documents: number,
    arena: () => ScratchArena
  ): Generator<TailWrite | undefined, TailRecord> {
    yield* this.#sealedRows(storedAt, documents, arena)
    let frame = 0
    for (const bytes of this.#upper.contents(documents)) {
      yield { key: indexKey(IndexArea.upperLevel, storedAt, frame++), value: arena().copyOf(bytes) }
    }
    return this.record
  }

  *#sealedRows(storedAt: number, documents: number, arena: () => ScratchArena): Generator<TailWrite> {
    const { memory } = this.#context
    const rowBytes = sealedRowBytes(documents)
    const rowsPerFrame = sealedRowsPerFrame(documents)
    for (let frame = 0; frame * rowsPerFrame < this.#shards; frame++) {
      const rows = Math.min(rowsPerFrame, this.#shards - frame * rowsPerFrame)
      const value = arena().take(rows * rowBytes)
      const scratch = memory.push(frameBytes)
      for (let i = 0; i < rows; i++) {
        this.#rows.copyRow(frame * rowsPerFrame + i, scratch)
        value.set(memory.u8.subarray(scratch, scratch + rowBytes), i * rowBytes)
      }
      memory.pop(scratch)
      yield { key: indexKey(IndexArea.hashedRows, storedAt, frame), value }
    }
  }

  free(): void {
    this.#rows.free()
    this.#upper.free()
  }

  /** Valid until the next call. */
  #rowsOf(lo: number, hi: number): Int32Array {
    this.#pairHash.rows(lo, hi, this.#shards, this.#rowNumbers)
    return this.#rowNumbers
  }
}

async function readFrames(
  record: SegmentRecord,
  store: IndexStore,
  geometry: Geometry,
  chunks: number,
  damaged: (what: string) => Error
): Promise<Uint8Array[][]> {
  const frameCount = framesPerChunk(record.shards, geometry)
  const frames: Uint8Array[][] = Array.from({ length: chunks }, () => [])
  for await (const [key, value] of store.scan(...indexRange(IndexArea.chunkRows, record.firstOrdinal))) {
    const chunk = numberOf(key, 0)
    const frame = numberOf(key, 1)
    const isWhole = value.length > 0 && value.length <= frameBytes && value.length % (8 * geometry.rowsPerFrame) === 0
    if (chunk === undefined || frame === undefined || !isWhole) {
      throw damaged('a chunk record has an invalid key or size')
    }
    // Records beyond the segment record were left by a crash: chunks of an incomplete checkpoint, or frames of other
    // parameters that were about to be cleared.
    const target = frame < frameCount ? frames[chunk] : undefined
    if (target !== undefined) target[frame] = value
  }
  frames.forEach((chunk, i) => {
    const documents = Math.min(geometry.chunkDocuments, record.documents - i * geometry.chunkDocuments)
    const least = geometry.rowsPerFrame * storedRowBytes(documents)
    for (let frame = 0; frame < frameCount; frame++) {
      const bytes = chunk[frame]
      if (bytes === undefined) throw damaged(`frame ${frame} of chunk ${i} is missing`)
      if (bytes.length < least) throw damaged(`frame ${frame} of chunk ${i} is too short`)
    }
  })
  return frames
}
