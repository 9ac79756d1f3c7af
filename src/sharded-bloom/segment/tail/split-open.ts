/**
 * The Bloom tail of an open segment with crowded documents: these have fingerprints, and no bits in the rows and the
 * upper level. There are no fingerprints before the first crowded document.
 *
 * A document is one of the two, so what has a pair is the union of both tails' answers.
 */
import type { ScratchArena } from '../../records/scratch-arena.ts'
import type { HashedPair } from '../private-table.ts'
import type { BloomOpenTail } from './bloom-open.ts'
import { FingerprintOpenTail } from './fingerprint-open.ts'
import { crowdedBits } from './limits.ts'
import type { Checkpoint, OpenTail, ScannedHashes, TailContext, TailRecord, TailWrite } from './tail.ts'

export class SplitOpenTail implements OpenTail {
  readonly #context: TailContext
  readonly #rows: BloomOpenTail
  readonly #crowdedPairs: number
  #crowded: FingerprintOpenTail | undefined
  /** Position from which on documents have fingerprints, the start of a chunk. */
  #from = 0
  #documents = 0
  #crowdedDocuments = 0
  /** The tail of the document being added. */
  #current: OpenTail

  /** @param crowdedPairs a document with more hashed pairs is crowded */
  constructor(context: TailContext, rows: BloomOpenTail, crowdedPairs: number) {
    this.#context = context
    this.#rows = rows
    this.#current = rows
    this.#crowdedPairs = crowdedPairs
  }

  get crowdedDocuments(): number {
    return this.#crowdedDocuments
  }

  get record(): TailRecord {
    const record = { ...this.#rows.record, crowdedPairs: this.#crowdedPairs }
    const fingerprints = this.#crowded?.record.fingerprints
    if (fingerprints === undefined) return record
    return { ...record, crowded: { ...fingerprints, from: this.#from, documents: this.#crowdedDocuments } }
  }

  get isFull(): boolean {
    return this.#crowded?.isFull === true
  }

  isCrowded(hashedPairs: number): boolean {
    return hashedPairs > this.#crowdedPairs
  }

  beginDocument(isCrowded: boolean): void {
    this.#rows.beginDocument()
    this.#current = isCrowded ? this.#fingerprints() : this.#rows
    if (isCrowded) this.#crowdedDocuments++
  }

  #fingerprints(): FingerprintOpenTail {
    if (this.#crowded === undefined) {
      this.#crowded = new FingerprintOpenTail(this.#context, crowdedBits, this.#documents)
      this.#from = this.#documents - (this.#documents % this.#context.geometry.chunkDocuments)
    }
    return this.#crowded
  }

  prepareFacts(hashes: Int32Array): Int32Array {
    return this.#rows.prepareFacts(hashes)
  }

  addFacts(prepared: Int32Array): void {
    this.#rows.addFacts(prepared)
  }

  add(lo: number, hi: number): void {
    this.#current.add(lo, hi)
  }

  addScanned(scanned: ScannedHashes): void {
    this.#current.addScanned(scanned)
  }

  endDocument(): void {
    this.#documents++
    this.#rows.endDocument()
    this.#crowded?.endDocument()
  }

  groups(pair: HashedPair): number {
    return this.#rows.groups(pair) | (this.#crowded?.groups(pair) ?? 0)
  }

  and(pair: HashedPair, out: number, groups: number): boolean {
    const ofRows = this.#rows.groups(pair) & groups
    const isAnySet = ofRows !== 0 && this.#rows.and(pair, out, ofRows)
    if (this.#crowded === undefined) return isAnySet
    return isAnySet ? this.#crowded.or(pair, out) || isAnySet : this.#crowded.and(pair, out)
  }

  *chunkWrites(first: number, chunk: number, documents: number, arena: ScratchArena): Generator<TailWrite | undefined> {
    yield* this.#rows.chunkWrites(first, chunk, documents, arena)
    if (this.#crowded !== undefined) yield* this.#crowded.chunkWrites(first, chunk, documents)
  }

  *chunkKeys(first: number, chunk: number): Generator<Uint8Array> {
    yield* this.#rows.chunkKeys(first, chunk)
    if (this.#crowded !== undefined) yield* this.#crowded.chunkKeys(first, chunk)
  }

  async restore(checkpoint: Checkpoint): Promise<void> {
    const { record } = checkpoint
    await this.#rows.restore(checkpoint)
    this.#documents = record.documents
    const { crowded } = record
    if (crowded === undefined || crowded.from >= record.documents) return
    this.#crowded = new FingerprintOpenTail(this.#context, crowded.bits, crowded.from)
    this.#from = crowded.from
    this.#crowdedDocuments = crowded.documents
    await this.#crowded.restore(checkpoint)
  }

  load(pair: HashedPair): void | Promise<void> {
    return this.#rows.load(pair)
  }

  loadAll(): void | Promise<void> {
    return this.#rows.loadAll()
  }

  *sealedWrites(
    storedAt: number,
    documents: number,
    arena: () => ScratchArena
  ): Generator<TailWrite | undefined, TailRecord> {
    const { crowded, ...record } = this.record
    yield* this.#rows.sealedWrites(storedAt, documents, arena)
    if (this.#crowded === undefined || crowded === undefined) return record
    const { fingerprints } = yield* this.#crowded.sealedWrites(storedAt, documents, arena)
    return { ...record, crowded: { ...crowded, ...fingerprints } }
  }

  free(): void {
    this.#rows.free()
    this.#crowded?.free()
  }
}
