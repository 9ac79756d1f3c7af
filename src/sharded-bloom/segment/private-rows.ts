/**
 * The private rows of an open segment. The chunk of documents being filled is kept as bits, a complete one as the
 * record that a checkpoint writes (private-chunk.ts). Sealing joins the parts of a row; reopening a segment keeps its
 * records as they are.
 *
 * Invariants:
 * 1. The words of one range of 32 positions are adjacent, in slot order: all that a document sets is in the L1 cache.
 * 2. Frames of row memory hold the chunk being filled: 16 slots each, word i of their rows in one cache line. Bits of
 *    positions not yet added are unspecified.
 * 3. The last part may be of an incomplete chunk. It is replaced by its bits when the next document is added.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { copyShared } from '../../model/copy-bytes.ts'
import { PetalError } from '../../model/errors.ts'
import { ScratchArena } from '../records/scratch-arena.ts'
import type { RowPart } from './and-groups.ts'
import type { Geometry } from './geometry.ts'
import { type KeptRow, KeptRows } from './kept-rows.ts'
import { type ChunkReading, PrivateChunk, rowsAtOnce } from './private-chunk.ts'
import { frameBytes } from './row-cache.ts'

/** Slots that share a frame. */
const lanes = 16
/** Maximum number of rows that encode() makes at once. */
export const sealedRowsAtOnce = 64

export class PrivateRows {
  readonly #memory: RowMemory
  readonly #geometry: Geometry
  readonly #parts: PrivateChunk[] = []
  readonly #kept: KeptRows
  /** Memory of complete chunks. */
  readonly #arena = new ScratchArena()
  #count: number
  #documents = 0
  /** By slot: bits of the 32 positions being filled. */
  #words: Int32Array
  /** Frame addresses; each frame has 16 slots. */
  #frames = new Uint32Array(0)
  /** Whether the words have been written to the frames. */
  #isDeposited = true
  /** Whether the frames hold the bits of the last part, if that is of an incomplete chunk. */
  #isInFrames = true
  #damaged: (what: string) => Error = (what) => new PetalError('InternalError', `Private rows: ${what}`)

  /** @param count initial number of slots */
  constructor(memory: RowMemory, geometry: Geometry, count: number) {
    this.#memory = memory
    this.#geometry = geometry
    this.#kept = new KeptRows(memory)
    this.#count = count
    this.#words = new Int32Array(Math.ceil(count / lanes) * lanes)
  }

  /** Number of slots. */
  get count(): number {
    return this.#count
  }

  /** Adds an empty row; its slot is the previous count. */
  addSlot(): void {
    if (this.#count === this.#words.length) {
      const larger = new Int32Array(2 * this.#count + lanes)
      larger.set(this.#words)
      this.#words = larger
    }
    this.#count++
  }

  /** Begins the next document. */
  beginDocument(): void {
    this.#isDeposited = false
    if (this.#parts.length * this.#geometry.chunkDocuments > this.#documents) this.#reopen()
  }

  add(slot: number): void {
    this.#words[slot]! |= 1 << (this.#documents & 31)
  }

  /** Adds the first `count` slots, possibly with repetitions. */
  addAll(slots: Int32Array, count: number): void {
    const words = this.#words
    const bit = 1 << (this.#documents & 31)
    let i = 0
    // V8 loads where an array lies, and its length, once for each turn.
    for (; i + 4 <= count; i += 4) {
      words[slots[i]!]! |= bit
      words[slots[i + 1]!]! |= bit
      words[slots[i + 2]!]! |= bit
      words[slots[i + 3]!]! |= bit
    }
    for (; i < count; i++) words[slots[i]!]! |= bit
  }

  endDocument(): void {
    this.#documents++
    if ((this.#documents & 31) !== 0) return
    this.#deposit()
    this.#words.fill(0)
    if (this.#documents % this.#geometry.chunkDocuments === 0) this.#storeChunk()
  }

  /** Writes the row's bits to `out`, for all whole chunks with documents that overlap the part. */
  writeRow(slot: number, out: number, { from, length }: RowPart): void {
    const { kernels } = this.#memory
    const { chunkRowBytes } = this.#geometry
    const first = Math.floor(from / chunkRowBytes)
    const end = Math.ceil((from + length) / chunkRowBytes)
    const stored = Math.min(end, this.#parts.length)
    const kept = this.#keptRow(slot)
    const copied = kept === undefined ? first : Math.min(stored, kept.chunks)
    if (kept !== undefined && first < copied) {
      const at = first * chunkRowBytes
      kernels.copy(kept.address + at, out + at, (copied - first) * chunkRowBytes)
    }
    this.#decode(slot, Math.max(first, copied), stored, out)
    const open = this.#documents - this.#partDocuments
    if (open <= 0 || end <= this.#parts.length) return
    this.#deposit()
    const to = out + this.#parts.length * chunkRowBytes
    kernels.gatherRow(this.#frames[Math.floor(slot / lanes)]!, slot % lanes, chunkRowBytes, to)
    kernels.clearFrom(to, open, chunkRowBytes)
  }

  /** Returns the record of a chunk's first `documents`, allocated from `arena`. */
  encodeChunk(chunk: number, documents: number, arena: ScratchArena): Uint8Array {
    if (chunk === this.#parts.length) this.#storeChunk()
    return arena.copyOf(this.#parts[chunk]!.encode(documents, this.#count, this.#reading))
  }

  /**
   * Returns the stored forms of the rows of slots [from, to), at most `sealedRowsAtOnce`, over all documents, allocated
   * from `arena`.
   */
  encode(from: number, to: number, rowBytes: number, arena: ScratchArena): Uint8Array[] {
    if (this.#documents > this.#partDocuments) this.#storeChunk()
    const { kernels, u8 } = this.#memory
    const { chunkRowBytes } = this.#geometry
    const parts = this.#parts
    const cursors = this.#memory.push(8 * parts.length)
    try {
      for (let i = 0; i < parts.length; i++) parts[i]!.place(this.#memory, from, to, cursors + 8 * i)
      const row = this.#memory.push(frameBytes)
      const out = this.#memory.push(1 + rowBytes)
      const rows: Uint8Array[] = []
      for (let slot = from; slot < to; slot++) {
        const length = kernels.encodeParts(cursors, parts.length, this.#documents, chunkRowBytes, rowBytes, row, out)
        if (length < 0) throw this.#damaged(`private row ${slot} is unreadable`)
        rows.push(arena.copyOf(u8.subarray(out, out + length)))
      }
      return rows
    } finally {
      this.#memory.pop(cursors)
    }
  }

  /**
   * Restores the next chunk from the record made by encodeChunk(). REQUIRES: no document was added.
   * @param damaged creates the error for an unreadable record, which may be thrown whenever rows are read
   */
  restoreChunk(bytes: Uint8Array, documents: number, damaged: (what: string) => Error): void {
    const part = PrivateChunk.parse(bytes, this.#count, documents, damaged)
    this.#damaged = damaged
    this.#parts.push(part)
    this.#documents += documents
    this.#isInFrames = false
  }

  /** Reads all rows of the chunk restored last. @throws the error of restoreChunk()'s `damaged` if one is unreadable */
  checkRestored(): void {
    this.#parts.at(-1)!.eachRow(this.#reading, () => undefined)
  }

  /** Frees the memory. REQUIRES: nobody uses the rows any more. */
  free(): void {
    for (const address of this.#frames) this.#memory.free(address)
    this.#frames = new Uint32Array(0)
    this.#kept.free()
    this.#arena.close()
  }

  /** Returns the kept row with all of its complete chunks, at least one, decoded. */
  #keptRow(slot: number): KeptRow | undefined {
    const complete = Math.floor(this.#partDocuments / this.#geometry.chunkDocuments)
    const row = complete === 0 ? undefined : this.#kept.find(slot)
    if (row === undefined || row.chunks === complete) return row
    this.#decode(slot, row.chunks, complete, row.address)
    row.chunks = complete
    return row
  }

  /** Decodes the row's bits of the parts [first, end) to their place in the row at `out`. */
  #decode(slot: number, first: number, end: number, out: number): void {
    if (first >= end) return
    const { chunkRowBytes, chunkDocuments } = this.#geometry
    const parts = this.#parts.slice(first, end)
    const cursors = this.#memory.push(8 * parts.length)
    for (let i = 0; i < parts.length; i++) parts[i]!.place(this.#memory, slot, slot + 1, cursors + 8 * i)
    const documents = this.#partDocuments - first * chunkDocuments
    const to = out + first * chunkRowBytes
    const isSound = this.#memory.kernels.joinParts(cursors, parts.length, documents, chunkRowBytes, to)
    this.#memory.pop(cursors)
    if (isSound === 0) throw this.#damaged(`private row ${slot} is unreadable`)
  }

  get #reading(): ChunkReading {
    return { memory: this.#memory, rowBytes: this.#geometry.chunkRowBytes, damaged: this.#damaged }
  }

  /** Number of documents in parts. */
  get #partDocuments(): number {
    return Math.min(this.#documents, this.#parts.length * this.#geometry.chunkDocuments)
  }

  /** Writes the words to the frames. */
  #deposit(): void {
    if (this.#isDeposited) return
    this.#allocateFrames()
    this.#isDeposited = true
    const memory = this.#memory
    const framesAt = memory.push(this.#frames.byteLength)
    const wordsAt = memory.push(this.#words.byteLength)
    memory.u32.set(this.#frames, framesAt >>> 2)
    copyShared(new Uint8Array(this.#words.buffer), memory.u8, wordsAt)
    const word = ((this.#documents - 1) % this.#geometry.chunkDocuments) >>> 5
    memory.kernels.depositWords(wordsAt, this.#frames.length, framesAt, word)
    memory.pop(framesAt)
  }

  #allocateFrames(): void {
    const missing = Math.ceil(this.#count / lanes) - this.#frames.length
    if (missing === 0) return
    this.#frames = Uint32Array.of(...this.#frames, ...this.#memory.allocateZeroed(missing))
  }

  /** Makes a part of the documents that are in no part yet; the frames still hold their bits. */
  #storeChunk(): void {
    this.#deposit()
    const { kernels, u8, u32 } = this.#memory
    const { chunkRowBytes } = this.#geometry
    const documents = this.#documents - this.#partDocuments
    const pieces: Uint8Array[] = []
    const arena = new ScratchArena()
    const ends = arena.takeWords(this.#count)
    const framesAt = this.#memory.push(this.#frames.byteLength)
    u32.set(this.#frames, framesAt >>> 2)
    let length = 0
    for (let from = 0; from < this.#count; from += rowsAtOnce) {
      const slots = Math.min(rowsAtOnce, this.#count - from)
      const endsAt = this.#memory.push(4 * slots)
      const out = this.#memory.push(slots * (3 + chunkRowBytes))
      const frames = framesAt + 4 * (from / lanes)
      const written = kernels.encodeLanes(frames, slots, documents, chunkRowBytes, out, endsAt, length)
      pieces.push(arena.copyOf(u8.subarray(out, out + written)))
      ends.set(u32.subarray(endsAt >>> 2, (endsAt >>> 2) + slots), from)
      length += written
      this.#memory.pop(endsAt)
    }
    this.#memory.pop(framesAt)
    // An incomplete chunk is replaced.
    const isComplete = documents === this.#geometry.chunkDocuments
    this.#parts.push(PrivateChunk.join(pieces, ends, documents, isComplete ? this.#arena : undefined))
    arena.close()
    this.#isInFrames = true
  }

  /** Turns the last part, which is of an incomplete chunk, back into the chunk being filled. */
  #reopen(): void {
    const part = this.#parts.pop()!
    if (this.#isInFrames) return
    this.#allocateFrames()
    const { kernels, u32 } = this.#memory
    part.eachRow(this.#reading, (slot, row) => {
      kernels.depositRow(row, this.#geometry.chunkRowBytes, this.#frames[Math.floor(slot / lanes)]!, slot % lanes)
    })
    const line = (part.documents >>> 5) * lanes
    if ((part.documents & 31) !== 0) {
      this.#frames.forEach((frame, i) => {
        const from = (frame >>> 2) + line
        this.#words.set(u32.subarray(from, from + lanes), i * lanes)
      })
    }
    this.#isInFrames = true
  }
}
