/**
 * The fingerprint tail of the open segment: runs of documents, each sorted when complete, and the one being filled. A
 * checkpoint writes a chunk's runs; sealing merges all of them.
 *
 * Invariants:
 * 1. Runs follow each other without gaps, from the start of a chunk, and none extends beyond its chunk.
 * 2. A run is completed at the latest when it has as many entries as can be sorted in a millisecond, so that few
 *    entries are unsorted, however many pairs documents have.
 */
import { IndexArea, indexKey, indexRange, numberOf } from '../../records/index-keys.ts'
import type { ScratchArena } from '../../records/scratch-arena.ts'
import type { HashedPair } from '../private-table.ts'
import { groupDocumentsOf } from '../upper-level.ts'
import { fingerprintOf } from './codec.ts'
import { type EntryRun, FillingRun, firstOf } from './entry-run.ts'
import { maxEntries } from './limits.ts'
import { decodeRun, encodeRun } from './run-record.ts'
import { sealedFingerprints } from './seal-fingerprints.ts'
import type { Checkpoint, OpenTail, ScannedHashes, TailContext, TailRecord, TailWrite } from './tail.ts'

const entriesPerRun = 16_384

export class FingerprintOpenTail implements OpenTail {
  readonly crowdedDocuments = 0
  readonly #context: TailContext
  readonly #bits: number
  readonly #groupShift: number
  readonly #runs: EntryRun[] = []
  readonly #filling: FillingRun
  /** First position of the run being filled. */
  #first = 0
  #documents = 0
  /** Number of entries in complete runs. */
  #entries = 0

  /**
   * @param bits H
   * @param position of the first document added; the segment's earlier ones have no fingerprints
   */
  constructor(context: TailContext, bits: number, position = 0) {
    this.#context = context
    this.#documents = position
    this.#first = position - (position % context.geometry.chunkDocuments)
    this.#bits = bits
    this.#groupShift = Math.log2(groupDocumentsOf(context.geometry.segmentDocuments))
    this.#filling = new FillingRun(bits)
  }

  get record(): TailRecord {
    const groupDocuments = groupDocumentsOf(this.#context.geometry.segmentDocuments)
    return {
      shards: 0,
      rowsPerPair: 1,
      upper: { frames: 0, groupDocuments, unknownGroups: 0 },
      fingerprints: { bits: this.#bits, bucketBits: 0, bytes: 0 }
    }
  }

  get isFull(): boolean {
    return this.#entries >= maxEntries
  }

  isCrowded(): boolean {
    return false
  }

  beginDocument(): void {}

  prepareFacts(hashes: Int32Array): Int32Array {
    return hashes
  }

  addFacts(prepared: Int32Array): void {
    this.#addAll(prepared, prepared.length / 2)
  }

  add(lo: number, hi: number): void {
    this.#filling.add(fingerprintOf(lo, hi, this.#bits), this.#documents)
  }

  addScanned({ hashes, hashCount }: ScannedHashes): void {
    this.#addAll(hashes, hashCount)
  }

  #addAll(hashes: Int32Array, count: number): void {
    const filling = this.#filling
    const bits = this.#bits
    const position = this.#documents
    for (let i = 0; i < count; i++) filling.add(fingerprintOf(hashes[2 * i]!, hashes[2 * i + 1]!, bits), position)
  }

  endDocument(): void {
    this.#documents++
    const isChunkComplete = this.#documents % this.#context.geometry.chunkDocuments === 0
    if (isChunkComplete || this.#filling.count >= entriesPerRun) this.#completeRun()
  }

  #completeRun(): void {
    if (this.#first === this.#documents) return
    const run = this.#filling.complete(this.#first, this.#documents - this.#first)
    this.#runs.push(run)
    this.#entries += run.codes.length
    this.#first = this.#documents
  }

  groups({ lo, hi }: HashedPair): number {
    const code = fingerprintOf(lo, hi, this.#bits)
    const shift = this.#groupShift
    let groups = 0
    for (const run of this.#runs) {
      const { codes, positions } = run
      for (let i = firstOf(run, code, this.#bits); codes[i] === code; i++) groups |= 1 << (positions[i]! >>> shift)
    }
    const filling = this.#filling
    for (let entry = filling.lastOf(code); entry >= 0; entry = filling.before(entry)) {
      groups |= 1 << (filling.positionOf(entry) >>> shift)
    }
    return groups
  }

  /** Ignores the groups asked for: only groups in which the pair is found have bits anyway. */
  and(pair: HashedPair, out: number): boolean {
    const { memory, geometry } = this.#context
    const { chunkDocuments, chunkRowBytes } = geometry
    memory.kernels.fill(out, 0, Math.max(1, Math.ceil(this.#documents / chunkDocuments)) * chunkRowBytes)
    return this.or(pair, out)
  }

  /** Sets the bits of the pair's documents, leaving others as they are; returns whether there are any. */
  or({ lo, hi }: HashedPair, out: number): boolean {
    const { u8 } = this.#context.memory
    const code = fingerprintOf(lo, hi, this.#bits)
    let isAnySet = false
    const set = (position: number): void => {
      u8[out + (position >>> 3)]! |= 1 << (position & 7)
      isAnySet = true
    }
    for (const run of this.#runs) {
      const { codes, positions } = run
      for (let i = firstOf(run, code, this.#bits); codes[i] === code; i++) set(positions[i]!)
    }
    const filling = this.#filling
    for (let entry = filling.lastOf(code); entry >= 0; entry = filling.before(entry)) set(filling.positionOf(entry))
    return isAnySet
  }

  *chunkWrites(first: number, chunk: number, documents: number): Generator<TailWrite | undefined> {
    const { chunkDocuments } = this.#context.geometry
    const end = chunk * chunkDocuments + documents
    if (end > this.#first) this.#completeRun()
    let number = 0
    for (const run of this.#runsOf(chunk)) {
      if (run.first >= end) return
      const value = yield* encodeRun(run, Math.min(run.documents, end - run.first), this.#bits)
      yield { key: indexKey(IndexArea.chunkFingerprints, first, chunk, number++), value }
    }
  }

  *chunkKeys(first: number, chunk: number): Generator<Uint8Array> {
    const { length } = this.#runsOf(chunk)
    for (let number = 0; number < length; number++) yield indexKey(IndexArea.chunkFingerprints, first, chunk, number)
  }

  #runsOf(chunk: number): EntryRun[] {
    const { chunkDocuments } = this.#context.geometry
    return this.#runs.filter(({ first }) => Math.floor(first / chunkDocuments) === chunk)
  }

  async restore({ record, store, damaged }: Checkpoint): Promise<void> {
    const { memory, geometry } = this.#context
    const { chunkDocuments } = geometry
    for await (const [key, value] of store.scan(...indexRange(IndexArea.chunkFingerprints, record.firstOrdinal))) {
      const chunk = numberOf(key, 0)
      if (chunk === undefined) throw damaged('a run of fingerprints has an invalid key')
      const end = Math.min((chunk + 1) * chunkDocuments, record.documents)
      // Records beyond the segment record were left by a crash, as in a Bloom tail.
      if (this.#documents >= end) continue
      if (this.#documents < chunk * chunkDocuments) break
      const run = decodeRun(value, this.#documents, end - this.#documents, this.#bits, memory)
      if (run === undefined) throw damaged(`a run of fingerprints of chunk ${chunk} is unreadable`)
      this.#runs.push(run)
      this.#entries += run.codes.length
      this.#documents += run.documents
    }
    this.#first = this.#documents
    if (this.#documents < record.documents) throw damaged('a run of fingerprints is missing')
  }

  load(): void {}

  loadAll(): void {}

  *sealedWrites(
    storedAt: number,
    documents: number,
    arena: () => ScratchArena
  ): Generator<TailWrite | undefined, TailRecord> {
    this.#completeRun()
    const fingerprints = yield* sealedFingerprints(this.#runs, this.#entries, storedAt, documents, this.#bits, arena)
    return { ...this.record, fingerprints }
  }

  free(): void {
    this.#runs.length = 0
  }
}
