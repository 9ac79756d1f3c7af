/**
 * The columns of an open segment's chunk as one record, which a checkpoint writes and opening restores.
 *
 * For each column, in order: the row of its outsiders and the row of its documents, each as a length (u16,
 * little-endian) and the row's stored form (row-codec.ts); then the keys of its documents, see decodeKeys().
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import type { ScratchArena } from '../records/scratch-arena.ts'
import { frameBytes } from '../segment/row-cache.ts'
import { decodeRow } from '../segment/row-codec.ts'
import type { OpenColumn } from './open-column.ts'

/** The positions of the segment that a record covers. */
export interface ChunkPlace {
  readonly first: number
  readonly documents: number
  readonly rowBytes: number
}

/** Encodes in steps, one per column. The record is allocated from `arena`. */
export function* encodeColumnChunk(
  columns: readonly OpenColumn[],
  place: ChunkPlace,
  memory: RowMemory,
  arena: ScratchArena
): Generator<undefined, Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for (const column of columns) {
    const part = encodeColumn(column, place, memory, arena)
    parts.push(part)
    length += part.length
    yield
  }
  const record = arena.take(length)
  let offset = 0
  for (const part of parts) {
    record.set(part, offset)
    offset += part.length
  }
  return record
}

function encodeColumn(column: OpenColumn, place: ChunkPlace, memory: RowMemory, arena: ScratchArena): Uint8Array {
  const { kernels, u8, u32 } = memory
  const { first, documents, rowBytes } = place
  const row = memory.push(rowBytes)
  const keys = memory.push(8 * documents)
  const out = memory.push(2 * (3 + rowBytes) + 9 + 8 * documents)
  u32.set(column.outside.words(first, first + rowBytes * 8), row >>> 2)
  let end = writeRow(row, place, out, memory)
  kernels.fill(row, 0, rowBytes)
  let count = 0
  for (const run of column.runs(first, first + documents)) {
    count += kernels.compactKeys(run.address, run.count, row + (run.position - first) / 8, keys + 8 * count)
  }
  end = writeRow(row, place, end, memory)
  end += kernels.encodeKeys(keys, count, end)
  const bytes = arena.copyOf(u8.subarray(out, end))
  memory.pop(row)
  return bytes
}

/** Writes the length and the stored form of the row; returns where they end. */
function writeRow(row: number, { documents, rowBytes }: ChunkPlace, to: number, { kernels, u8 }: RowMemory): number {
  const length = kernels.encodeRow(row, documents, rowBytes, to + 2)
  u8[to] = length
  u8[to + 1] = length >>> 8
  return to + 2 + length
}

/** Adds the record's contents to the columns; returns false when it is damaged. */
export function decodeColumnChunk(
  record: Uint8Array,
  columns: readonly OpenColumn[],
  place: ChunkPlace,
  memory: RowMemory
): boolean {
  const reader = new Reader(record)
  const positions = new Uint16Array(place.rowBytes * 8)
  for (const column of columns) {
    const outside = readRow(reader, place, memory)
    const members = readRow(reader, place, memory)
    if (outside === undefined || members === undefined) return false
    column.outside.addWords(outside, place.first)
    const count = listBits(members, positions)
    const keys = decodeKeys(reader, count)
    if (keys === undefined) return false
    for (let i = 0; i < count; i++) column.set(place.first + positions[i]!, keys[i]!)
  }
  return reader.isAtEnd
}

/** Added to the width of keys of which the bits are stored, as of format 8. */
const asBits = 16
const plainWidth = 8
const double = new Float64Array(1)
/** The lower one first. */
const halves = new Uint32Array(double.buffer)

/**
 * Decodes what kernels.encodeKeys() wrote, all little-endian: a width byte, then for widths 1 to 7 the least key (a
 * double) and each key's unsigned offset from it, of this many bytes, which requires integers close together; with 16
 * added to the width, the same of the keys' bits read as unsigned integers; for width 8 the keys as doubles.
 */
function decodeKeys(reader: Reader, count: number): Float64Array | undefined {
  const form = reader.take(1)?.getUint8(0) ?? 0
  const isPlain = form === plainWidth
  const width = isPlain ? plainWidth : form & ~asBits
  // Whole keys are the offsets of their bits from 0.
  const areBits = isPlain || form !== width
  if (width < 1 || (width >= plainWidth && !isPlain)) return undefined
  const least = isPlain ? undefined : reader.take(8)
  const view = reader.take(width * count)
  if (view === undefined || (least === undefined && !isPlain)) return undefined
  const keys = new Float64Array(count)
  const leastKey = least?.getFloat64(0, true) ?? 0
  const leastLow = least?.getUint32(0, true) ?? 0
  const leastHigh = least?.getUint32(4, true) ?? 0
  for (let i = 0; i < count; i++) {
    const at = i * width
    const low = unsigned(view, at, Math.min(width, 4))
    const high = unsigned(view, at + 4, width - 4)
    if (areBits) {
      const sum = leastLow + low
      halves[0] = sum
      halves[1] = leastHigh + high + (sum > 0xffff_ffff ? 1 : 0)
      keys[i] = double[0]!
    } else keys[i] = leastKey + high * 2 ** 32 + low
    if (Number.isNaN(keys[i])) return undefined
  }
  return keys
}

/** @param length in bytes, at most 4; 0 where negative */
function unsigned(view: DataView, at: number, length: number): number {
  switch (length) {
    case 4:
      return view.getUint32(at, true)
    case 3:
      return view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
    case 2:
      return view.getUint16(at, true)
    case 1:
      return view.getUint8(at)
    default:
      return 0
  }
}

function readRow(reader: Reader, place: ChunkPlace, memory: RowMemory): Uint32Array | undefined {
  const length = reader.take(2)?.getUint16(0, true)
  const stored = length === undefined ? undefined : reader.take(length)
  if (stored === undefined) return undefined
  const bytes = new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength)
  const row = memory.push(frameBytes)
  try {
    if (!decodeRow(bytes, memory, row, place.documents, place.rowBytes)) return undefined
    return memory.u32.slice(row >>> 2, (row + place.rowBytes) >>> 2)
  } finally {
    memory.pop(row)
  }
}

/** Writes the positions of the set bits; returns their number. */
function listBits(words: Uint32Array, out: Uint16Array): number {
  let count = 0
  for (let w = 0; w < words.length; w++) {
    for (let rest = words[w]!; rest !== 0; rest &= rest - 1) out[count++] = w * 32 + 31 - Math.clz32(rest & -rest)
  }
  return count
}

class Reader {
  readonly #bytes: Uint8Array
  #offset = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#offset === this.#bytes.length
  }

  /** Returns the next bytes; undefined when fewer are left. */
  take(length: number): DataView | undefined {
    const start = this.#offset
    if (start + length > this.#bytes.length) return undefined
    this.#offset += length
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + start, length)
  }
}
