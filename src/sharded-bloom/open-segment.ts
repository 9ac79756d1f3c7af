/**
 * The segment that grows. Documents go straight into their final rows: hashed pairs into a signature, 64 signatures at a
 * time into rows by transposition; private pairs, compared by the pair itself while the document is at hand, into
 * rows of their own, a word of positions at a time.
 *
 * Invariants:
 * 1. A private pair has been private since the segment's first document, so its row is exact.
 * 2. While `isShapeComplete`, every EXISTS and TYPE pair of the segment is private: one that is not in the table is in
 *    no document.
 * 3. Bits at positions ≥ a view's limit may appear at any time; evaluation masks them.
 */
import type { RowMemory } from '../bloom/kernels/index.ts'
import type { FlatDocument } from './flatten.ts'
import type { Geometry } from './geometry.ts'
import { GrowingRow } from './growing-row.ts'
import type { PairHash } from './pair-hash.ts'
import { Tag } from './pair-tags.ts'
import { blockPositions, PrivateBlock } from './private-block.ts'
import { type HashedPair, PrivateTable } from './private-table.ts'
import { frameBytes } from './row-cache.ts'
import type { Location, Segment, SegmentParameters } from './segment.ts'
import type { Shape } from './shapes.ts'

/** EXISTS, TYPE and irregular pairs become private when they are first met, up to this many rows in all. */
const maxPrivateRows = 8192
const maxDynamicRows = 2048

/** What the documents of one shape have in common, prepared once per shape and segment. */
interface PreparedShape {
  readonly slots: Int32Array
  readonly rows: Int32Array
  readonly hashedPairs: number
}

export class OpenSegment implements Segment {
  readonly firstOrdinal: number
  readonly shards: number
  readonly rowsPerPair: number
  readonly table: PrivateTable
  readonly alwaysCandidates: number[] = []
  isShapeComplete = true
  readonly #memory: RowMemory
  readonly #geometry: Geometry
  readonly #pairHash: PairHash
  /** Addresses of the frames of each chunk. */
  readonly #chunks: Uint32Array[] = []
  /** Signatures of the block being filled, 64 × P bits. */
  readonly #signatures: Uint32Array
  readonly #signatureWords: number
  readonly #rowNumbers: Int32Array
  readonly #privateRows: GrowingRow[]
  /** Positions that are not in the private rows yet. */
  readonly #privateBlock: PrivateBlock
  readonly #dynamicLimit: number
  #documents = 0
  #transposed = 0
  #hashedPairs = 0

  constructor(
    memory: RowMemory,
    geometry: Geometry,
    pairHash: PairHash,
    firstOrdinal: number,
    parameters: SegmentParameters
  ) {
    this.#memory = memory
    this.#geometry = geometry
    this.#pairHash = pairHash
    this.firstOrdinal = firstOrdinal
    this.shards = parameters.shards
    this.rowsPerPair = parameters.rowsPerPair
    this.table = new PrivateTable(parameters.privatePairs)
    this.#privateRows = parameters.privatePairs.map(() => new GrowingRow(geometry.segmentDocuments))
    this.#dynamicLimit = Math.min(maxPrivateRows, parameters.privatePairs.length + maxDynamicRows)
    this.#privateBlock = new PrivateBlock(Math.max(this.#dynamicLimit, parameters.privatePairs.length))
    this.#signatureWords = this.shards / 32
    this.#signatures = new Uint32Array(64 * this.#signatureWords)
    this.#rowNumbers = new Int32Array(this.rowsPerPair)
  }

  get documents(): number {
    return this.#documents
  }

  get isFull(): boolean {
    return this.#documents === this.#geometry.segmentDocuments
  }

  get rowBytes(): number {
    return Math.max(1, this.#chunks.length) * this.#geometry.chunkRowBytes
  }

  /** The row of each slot. */
  get privateRows(): readonly GrowingRow[] {
    this.#privateBlock.flushTo(this.#privateRows)
    return this.#privateRows
  }

  /** Hashed pairs of all documents added to this object: what fills the rows. */
  get hashedPairs(): number {
    return this.#hashedPairs
  }

  /** Adds the document at the next position. */
  add(flat: FlatDocument): void {
    const position = this.#documents
    this.#beginDocument(position)
    const base = (position & 63) * this.#signatureWords
    const prepared = this.#prepare(flat.shape)
    const { slots, rows } = prepared
    for (let i = 0; i < slots.length; i++) this.#privateBlock.add(slots[i]!, position)
    for (let i = 0; i < rows.length; i++) this.#set(base, rows[i]!)
    let hashed = prepared.hashedPairs
    const rowNumbers = this.#rowNumbers
    const { nodes, tags, keys, lo, hi } = flat
    for (let i = 0; i < flat.count; i++) {
      const slot = this.table.find(lo[i]!, hi[i]!, nodes[i]!.path, tags[i]!, keys[i]!)
      if (slot >= 0) {
        this.#privateBlock.add(slot, position)
        continue
      }
      hashed++
      this.#pairHash.rows(lo[i]!, hi[i]!, this.shards, rowNumbers)
      for (let j = 0; j < rowNumbers.length; j++) this.#set(base, rowNumbers[j]!)
    }
    this.#hashedPairs += hashed
    let isAlwaysCandidate = flat.isOverfull
    for (const key of flat.irregularKeys) {
      const slot = this.#slotFor(key, Tag.irregular, 0)
      if (slot >= 0) this.#privateBlock.add(slot, position)
      else isAlwaysCandidate = true
    }
    if (isAlwaysCandidate) this.alwaysCandidates.push(position)
    this.#endDocument()
  }

  /**
   * Adds the document at the next position as a scan of its bytes has it (see byte-scan/).
   * @param slots the first `count` are those of its private pairs, some more than once
   * @param signature P bits, the rows of its hashed pairs
   */
  addScanned(slots: Int32Array, count: number, signature: Uint32Array, hashedPairs: number): void {
    const position = this.#documents
    this.#beginDocument(position)
    this.#signatures.set(signature, (position & 63) * this.#signatureWords)
    this.#privateBlock.addAll(slots, count, position)
    this.#hashedPairs += hashedPairs
    this.#endDocument()
  }

  /** Leaves a position without a document; whoever calls it marks the position dead. */
  skip(): void {
    this.#beginDocument(this.#documents)
    this.#endDocument()
  }

  /** A document that is gone by now, at a position that older views may still hold live: nothing is known of it. */
  addUnknown(): void {
    this.alwaysCandidates.push(this.#documents)
    this.skip()
  }

  privatePairs(): readonly HashedPair[] {
    return this.table.pairs
  }

  locate(pair: HashedPair): Location {
    const slot = this.table.find(pair.lo, pair.hi, pair.path, pair.tag, pair.key)
    if (slot >= 0) return { kind: 'private', slot }
    if (pair.tag === Tag.irregular) return { kind: 'absent' }
    if (this.isShapeComplete && (pair.tag === Tag.exists || pair.tag === Tag.type)) return { kind: 'absent' }
    const rows = new Int32Array(this.rowsPerPair)
    this.#pairHash.rows(pair.lo, pair.hi, this.shards, rows)
    return { kind: 'hashed', rows }
  }

  load(): void {}

  privateRow(slot: number, scratch: number): number {
    const { kernels, u32 } = this.#memory
    kernels.fill(scratch, 0, this.rowBytes)
    const from = scratch >>> 2
    this.privateRows[slot]!.writeTo(u32.subarray(from, from + this.rowBytes / 4))
    return scratch
  }

  andHashed(rows: Int32Array, out: number): boolean {
    this.flush()
    const { kernels, u32 } = this.#memory
    const { chunkRowBytes } = this.#geometry
    const pointers = this.#memory.push(rows.length * 4)
    let isAnySet = 0
    this.#chunks.forEach((_, chunk) => {
      for (let i = 0; i < rows.length; i++) u32[(pointers >>> 2) + i] = this.#rowAddress(chunk, rows[i]!)
      isAnySet |= kernels.andRows(pointers, rows.length, out + chunk * chunkRowBytes, chunkRowBytes)
    })
    this.#memory.pop(pointers)
    if (this.#chunks.length === 0) kernels.fill(out, 0, this.rowBytes)
    return isAnySet !== 0
  }

  /** Brings the signatures that were not transposed yet into the rows. */
  flush(): void {
    if (this.#transposed === this.#documents) return
    this.#transpose((this.#documents - 1) >>> 6)
  }

  /** Copies the hashed row over all chunks to `out`, `rowBytes` long. */
  copyHashedRow(row: number, out: number): void {
    this.flush()
    const { chunkRowBytes } = this.#geometry
    for (let chunk = 0; chunk < this.#chunks.length; chunk++) {
      this.#memory.kernels.copy(this.#rowAddress(chunk, row), out + chunk * chunkRowBytes, chunkRowBytes)
    }
  }

  /** The frames of a chunk, in order: what a checkpoint writes. Copies. */
  *chunkFrames(chunk: number): Generator<Uint8Array> {
    this.flush()
    for (const address of this.#chunks[chunk]!) yield this.#memory.u8.slice(address, address + frameBytes)
  }

  /**
   * Takes back what checkpoints kept: the frames of every chunk, private rows and counts as they stood at `documents`.
   * @param frames per chunk, in order, 8 KiB each
   */
  restore(documents: number, hashedPairs: number, frames: readonly (readonly Uint8Array[])[]): void {
    for (const chunk of frames) {
      const addresses = this.#addChunk()
      chunk.forEach((bytes, i) => {
        this.#memory.u8.set(bytes, addresses[i]!)
      })
    }
    this.#documents = documents
    this.#transposed = documents
    this.#hashedPairs = hashedPairs
    this.#restoreSignatures()
  }

  /** Gives the memory back. The segment must not be used afterwards. */
  free(): void {
    for (const chunk of this.#chunks) for (const address of chunk) this.#memory.free(address)
    this.#chunks.length = 0
  }

  #set(base: number, row: number): void {
    this.#signatures[base + (row >>> 5)]! |= 1 << (row & 31)
  }

  #beginDocument(position: number): void {
    if (position % this.#geometry.chunkDocuments === 0) this.#addChunk()
    if ((position & 63) === 0) this.#signatures.fill(0)
  }

  #endDocument(): void {
    this.#documents++
    if ((this.#documents & 63) === 0) this.#transpose((this.#documents >>> 6) - 1)
    if (this.#documents % blockPositions === 0) this.#privateBlock.flushTo(this.#privateRows)
  }

  #addChunk(): Uint32Array {
    const addresses = new Uint32Array(Math.ceil(this.shards / this.#geometry.rowsPerFrame))
    for (let i = 0; i < addresses.length; i++) {
      addresses[i] = this.#memory.allocate()
      this.#memory.kernels.fill(addresses[i]!, 0, frameBytes)
    }
    this.#chunks.push(addresses)
    return addresses
  }

  #rowAddress(chunk: number, row: number): number {
    const { rowsPerFrame, chunkRowBytes } = this.#geometry
    return this.#chunks[chunk]![Math.floor(row / rowsPerFrame)]! + (row % rowsPerFrame) * chunkRowBytes
  }

  /** Block numbers count from the segment's first document. */
  #transpose(block: number): void {
    const { chunkDocuments, rowsPerFrame } = this.#geometry
    const chunk = Math.floor((block * 64) / chunkDocuments)
    const frames = this.#chunks[chunk]!
    const memory = this.#memory
    const framesAt = memory.push(frames.byteLength)
    const signaturesAt = memory.push(this.#signatures.byteLength)
    memory.u32.set(frames, framesAt >>> 2)
    memory.u32.set(this.#signatures, signaturesAt >>> 2)
    const blockInChunk = block - (chunk * chunkDocuments) / 64
    memory.kernels.transposeBlock(signaturesAt, this.shards / 8, framesAt, rowsPerFrame, blockInChunk)
    memory.pop(framesAt)
    this.#transposed = this.#documents
  }

  /** The block that was being filled, read back from the rows: the next document joins it. */
  #restoreSignatures(): void {
    const filled = this.#documents & 63
    if (filled === 0) return
    const start = this.#documents - filled
    const chunk = Math.floor(start / this.#geometry.chunkDocuments)
    const offset = (start % this.#geometry.chunkDocuments) / 8
    this.#signatures.fill(0)
    for (let row = 0; row < this.shards; row++) {
      const address = this.#rowAddress(chunk, row) + offset
      for (let d = 0; d < filled; d++) {
        if ((this.#memory.u8[address + (d >>> 3)]! & (1 << (d & 7))) !== 0) {
          this.#signatures[d * this.#signatureWords + (row >>> 5)]! |= 1 << (row & 31)
        }
      }
    }
  }

  #prepare(shape: Shape): PreparedShape {
    if (shape.preparedBy === this) return shape.prepared as PreparedShape
    const slots = new Set<number>()
    const rows = new Set<number>()
    let hashedPairs = 0
    const place = (path: string, tag: number, key: number): void => {
      const slot = this.#slotFor(path, tag, key)
      if (slot >= 0) {
        slots.add(slot)
        return
      }
      this.isShapeComplete = false
      hashedPairs++
      const { lo, hi } = this.#pairHash.hash({ path, tag, key })
      this.#pairHash.rows(lo, hi, this.shards, this.#rowNumbers)
      for (const row of this.#rowNumbers) rows.add(row)
    }
    for (const { node, type } of shape.facts()) {
      place(node.path, Tag.type, type)
      place(node.path, Tag.exists, 0)
    }
    const prepared: PreparedShape = { slots: Int32Array.from(slots), rows: Int32Array.from(rows), hashedPairs }
    shape.prepared = prepared
    shape.preparedBy = this
    return prepared
  }

  /** The private row of a pair that may still get one, or −1. Irregular keys may as long as there is room. */
  #slotFor(path: string, tag: number, key: number): number {
    const { lo, hi } = this.#pairHash.hash({ path, tag, key })
    const slot = this.table.find(lo, hi, path, tag, key)
    if (slot >= 0) return slot
    // A pair met for the first time has been in no document before, (1) if it is an irregular key, because those are
    // private or their document an eternal candidate, and (2) if it is a fact of a shape, as long as all of them are
    // private.
    if (this.table.size >= this.#dynamicLimit) return -1
    if (tag !== Tag.irregular && !this.isShapeComplete) return -1
    this.#privateRows.push(new GrowingRow(this.#geometry.segmentDocuments))
    return this.table.add({ path, tag, key, lo, hi })
  }
}
