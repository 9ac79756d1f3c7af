/**
 * The private rows of an open segment's chunk as one record: every slot's row, in order, as a length (u16,
 * little-endian) and the row's stored form (row-codec.ts).
 *
 * A segment that is opened again has hundreds of rows that nobody asks for: each is read when it is first touched.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import type { Geometry } from './geometry.ts'
import type { GrowingRow, RowSource } from './growing-row.ts'
import { frameBytes } from './row-cache.ts'
import { decodePositions, decodeRow, encodingRoom, RowShape } from './row-codec.ts'

/** Kept for the next chunk: memory of this size that is thrown away each time makes the garbage collector run. */
let kept = new Uint8Array(0)
const maxKeptBytes = 4 << 20
const rowsPerStep = 64

/** Stored rows up to this length are read position by position; bits take longer. */
const shortRow = 64

/** In steps. @param from the chunk's first document @param documents of the chunk */
export function* encodeChunkRows(
  rows: readonly GrowingRow[],
  { chunkRowBytes }: Geometry,
  from: number,
  documents: number
): Generator<undefined, Uint8Array> {
  const room = 2 + encodingRoom(chunkRowBytes)
  // Nobody else's while this one pauses.
  let encoding = kept
  kept = new Uint8Array(0)
  let offset = 0
  for (let slot = 0; slot < rows.length; slot++) {
    const row = rows[slot]!
    if (slot % rowsPerStep === rowsPerStep - 1) yield
    if (encoding.length - offset < room) {
      const larger = new Uint8Array(Math.max(2 * encoding.length, 64 * room))
      larger.set(encoding)
      encoding = larger
    }
    const length = row.encodeTo(encoding, offset + 2, from, documents, chunkRowBytes)
    encoding[offset] = length
    encoding[offset + 1] = length >>> 8
    offset += 2 + length
  }
  const bytes = encoding.slice(0, offset)
  if (encoding.length <= maxKeptBytes) kept = encoding
  return bytes
}

interface Chunk {
  readonly bytes: Uint8Array
  /** Where each slot's row ends; slots that were added after the chunk was written are not in it. */
  readonly ends: readonly number[]
  readonly documents: number
}

export class ChunkRows implements RowSource {
  readonly #memory: RowMemory
  readonly #geometry: Geometry
  readonly #damaged: (what: string) => Error
  readonly #chunks: Chunk[] = []
  readonly #positions = new Uint16Array(shortRow)

  /** @param damaged makes the error of a record that is not readable */
  constructor(memory: RowMemory, geometry: Geometry, damaged: (what: string) => Error) {
    this.#memory = memory
    this.#geometry = geometry
    this.#damaged = damaged
  }

  /** The record of the next chunk. @param slots of the segment */
  add(bytes: Uint8Array, documents: number, slots: number): void {
    const ends: number[] = []
    let end = 0
    while (ends.length < slots && end < bytes.length) {
      end += 2 + (bytes[end]! | (bytes[end + 1]! << 8))
      if (!(end <= bytes.length)) throw this.#damaged(`private row ${ends.length} of a chunk is cut off`)
      ends.push(end)
    }
    this.#chunks.push({ bytes, ends, documents })
  }

  readTo(row: GrowingRow, slot: number): void {
    const { chunkDocuments, chunkRowBytes } = this.#geometry
    this.#chunks.forEach(({ bytes, ends, documents }, chunk) => {
      if (slot >= ends.length) return
      const stored = bytes.subarray(2 + (slot === 0 ? 0 : ends[slot - 1]!), ends[slot])
      const first = chunk * chunkDocuments
      const count = stored.length <= shortRow ? decodePositions(stored, documents, this.#positions) : -1
      if (count >= 0) {
        for (let i = 0; i < count; i++) row.add(first + this.#positions[i]!)
      } else if (stored[0] !== RowShape.none) {
        const { u32 } = this.#memory
        const address = this.#memory.push(frameBytes)
        try {
          if (!decodeRow(stored, this.#memory, address, documents, chunkRowBytes)) {
            throw this.#damaged(`private row ${slot} of chunk ${chunk} is not readable`)
          }
          row.addWords(u32.subarray(address >>> 2, (address + chunkRowBytes) >>> 2), first)
        } finally {
          this.#memory.pop(address)
        }
      }
    })
  }
}
