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

/**
 * Decodes what kernels.encodeKeys() wrote, all little-endian: a width byte, then for width 1, 2 or 4 the least key (a
 * double) and each key's unsigned offset from it, which requires integers close together; for width 8 the keys as
 * doubles.
 */
function decodeKeys(reader: Reader, count: number): Float64Array | undefined {
  const width = reader.take(1)?.getUint8(0)
  if (width !== 1 && width !== 2 && width !== 4 && width !== 8) return undefined
  const least = width === 8 ? 0 : reader.take(8)?.getFloat64(0, true)
  const view = reader.take(width * count)
  if (least === undefined || view === undefined) return undefined
  const keys = new Float64Array(count)
  for (let i = 0; i < count; i++) {
    const at = i * width
    if (width === 8) keys[i] = view.getFloat64(at, true)
    else if (width === 4) keys[i] = least + view.getUint32(at, true)
    else if (width === 2) keys[i] = least + view.getUint16(at, true)
    else keys[i] = least + view.getUint8(at)
    if (Number.isNaN(keys[i])) return undefined
  }
  return keys
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
