/** The Bloom tail of the open segment: hashed rows (hashed-rows.ts) and the upper level (upper-level.ts). */
import type { PairHash } from '../../pairs/pair-hash.ts'
import { Tag } from '../../pairs/pair-tags.ts'
import { IndexArea, indexKey } from '../../records/index-keys.ts'
import type { ScratchArena } from '../../records/scratch-arena.ts'
import { framesPerChunk, sealedRowBytes, sealedRowsPerFrame } from '../geometry.ts'
import { HashedRows } from '../hashed-rows.ts'
import type { HashedPair } from '../private-table.ts'
import { frameBytes } from '../row-cache.ts'
import type { SegmentParameters } from '../segment.ts'
import { allGroups, UpperLevelBuilder } from '../upper-level.ts'
import { StoredChunks } from './stored-chunks.ts'
import type { Checkpoint, OpenTail, ScannedHashes, TailContext, TailRecord, TailWrite } from './tail.ts'

export class BloomOpenTail implements OpenTail {
  readonly isFull = false
  readonly crowdedDocuments = 0
  readonly #rows: HashedRows
  readonly #upper: UpperLevelBuilder
  /** Of a restored segment: the rows that may have to be read. */
  #stored: StoredChunks | undefined
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
    this.#stored?.noteUse(groups)
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

  async restore(checkpoint: Checkpoint): Promise<void> {
    const { record, store } = checkpoint
    const { geometry } = this.#context
    const { chunkDocuments } = geometry
    this.#stored = await StoredChunks.restore(this.#rows, this.#context, checkpoint)
    this.#documents = record.documents
    if (this.#upper.frames > 0) {
      for (let first = 0; first < record.documents; first += chunkDocuments) {
        // A missing one is no damage: it only saves time.
        const upper = await store.get(indexKey(IndexArea.chunkUpper, record.firstOrdinal, first / chunkDocuments))
        this.#upper.restoreChunk(first, chunkDocuments, upper)
      }
    }
    this.#upper.markUnknown(record.upper.unknownGroups)
  }

  load(pair: HashedPair): void | Promise<void> {
    // Most segments are complete: their groups are not looked up.
    return this.#stored?.isComplete === false ? this.#stored.load(this.groups(pair)) : undefined
  }

  loadAll(): void | Promise<void> {
    return this.#stored?.loadAll()
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
    this.#stored?.free()
    this.#rows.free()
    this.#upper.free()
  }

  /** Valid until the next call. */
  #rowsOf(lo: number, hi: number): Int32Array {
    this.#pairHash.rows(lo, hi, this.#shards, this.#rowNumbers)
    return this.#rowNumbers
  }
}
