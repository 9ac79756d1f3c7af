/**
 * The private rows of one chunk of documents, as the record that a checkpoint writes: every slot's row, in order, as a
 * length (u16, little-endian) and the row's stored form (row-codec.ts).
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import type { ScratchArena } from '../records/scratch-arena.ts'

/** Rows encoded or decoded per use of the scratch area. */
export const rowsAtOnce = 512
/** An empty row in a record. */
const noRow = Uint8Array.of(1, 0, 0)

/** What reading rows needs. */
export interface ChunkReading {
  readonly memory: RowMemory
  /** Bytes of a row's bits. */
  readonly rowBytes: number
  /** Creates the error for an unreadable row. */
  readonly damaged: (what: string) => Error
}

export class PrivateChunk {
  readonly bytes: Uint8Array
  readonly documents: number
  /** End of each slot's row; slots added after the chunk was complete have none. */
  readonly #ends: Uint32Array

  private constructor(bytes: Uint8Array, ends: Uint32Array, documents: number) {
    this.bytes = bytes
    this.documents = documents
    this.#ends = ends
  }

  /**
   * @param pieces the record, in pieces; copied
   * @param arena the chunk's memory, until it is closed; default: memory of its own
   */
  static join(pieces: readonly Uint8Array[], ends: Uint32Array, documents: number, arena?: ScratchArena): PrivateChunk {
    return new PrivateChunk(concatenated(pieces, arena), arena?.copyOfWords(ends) ?? ends.slice(), documents)
  }

  /**
   * @param slots maximum number of rows
   * @throws the error of `damaged` if a row is cut off; row contents are not checked
   */
  static parse(bytes: Uint8Array, slots: number, documents: number, damaged: ChunkReading['damaged']): PrivateChunk {
    const ends = new Uint32Array(slots)
    let count = 0
    let end = 0
    while (count < ends.length && end < bytes.length) {
      end += 2 + (bytes[end]! | (bytes[end + 1]! << 8))
      if (!(end <= bytes.length)) throw damaged(`private row ${count} of a chunk is truncated`)
      ends[count++] = end
    }
    return new PrivateChunk(bytes, ends.subarray(0, count), documents)
  }

  /** Returns the record of the first `documents`, with rows for `slots` slots; it may be part of the chunk's memory. */
  encode(documents: number, slots: number, reading: ChunkReading): Uint8Array {
    const bytes = documents === this.documents ? this.bytes : this.#encodeFewer(documents, reading)
    const missing = slots - this.#ends.length
    if (missing === 0) return bytes
    const padded = new Uint8Array(bytes.length + noRow.length * missing)
    padded.set(bytes)
    for (let at = bytes.length; at < padded.length; at += noRow.length) padded.set(noRow, at)
    return padded
  }

  /**
   * Pushes the stored forms of slots [from, to) for a kernel to read.
   * @param cursor receives the addresses where they begin and end
   * @returns the address where they begin
   */
  place(memory: RowMemory, from: number, to: number, cursor: number): number {
    const { u8, u32 } = memory
    const bytes = this.bytes.subarray(this.#beginOf(from), this.#beginOf(to))
    const at = memory.push(bytes.length)
    u8.set(bytes, at)
    u32[cursor >>> 2] = at
    u32[(cursor >>> 2) + 1] = at + bytes.length
    return at
  }

  /** @param use is called with the address of each row's bits */
  eachRow({ memory, rowBytes, damaged }: ChunkReading, use: (slot: number, row: number) => void): void {
    const { kernels } = memory
    const cursor = memory.push(8)
    const row = memory.push(rowBytes)
    try {
      for (let from = 0; from < this.#ends.length; from += rowsAtOnce) {
        const to = Math.min(from + rowsAtOnce, this.#ends.length)
        const at = this.place(memory, from, to, cursor)
        for (let slot = from; slot < to; slot++) {
          if (kernels.joinParts(cursor, 1, this.documents, rowBytes, row) === 0) {
            throw damaged(`private row ${slot} of a chunk is unreadable`)
          }
          use(slot, row)
        }
        memory.pop(at)
      }
    } finally {
      memory.pop(cursor)
    }
  }

  #encodeFewer(documents: number, reading: ChunkReading): Uint8Array {
    const { memory, rowBytes } = reading
    const { kernels, u8 } = memory
    const pieces: Uint8Array[] = []
    this.eachRow(reading, (_, row) => {
      const out = memory.push(3 + rowBytes)
      const bytes = kernels.encodeRow(row, documents, rowBytes, out + 2)
      u8[out] = bytes
      u8[out + 1] = bytes >>> 8
      pieces.push(u8.slice(out, out + 2 + bytes))
      memory.pop(out)
    })
    return concatenated(pieces)
  }

  /** Offset of the slot's row; the end of the record for slots that are not in it. */
  #beginOf(slot: number): number {
    const before = Math.min(slot, this.#ends.length)
    return before === 0 ? 0 : this.#ends[before - 1]!
  }
}

function concatenated(pieces: readonly Uint8Array[], arena?: ScratchArena): Uint8Array {
  let length = 0
  for (const piece of pieces) length += piece.length
  const bytes = arena?.take(length) ?? new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
