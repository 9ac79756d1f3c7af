/**
 * The columns of an open segment's chunk as one record: what a checkpoint writes and what opening takes back.
 *
 * For each column, in order: the row of its outsiders and the row of its documents, each as a length (u16,
 * little-endian) and the row's stored form (row-codec.ts); then the keys of its documents, see encodeKeys().
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { frameBytes } from '../segment/row-cache.ts'
import { decodeRow, encodeRow } from '../segment/row-codec.ts'
import type { OpenColumn } from './open-column.ts'

/** Which positions of the segment a record is of. */
export interface ChunkPlace {
  readonly first: number
  readonly documents: number
  readonly rowBytes: number
}

/** In steps, one for each column. */
export function* encodeColumnChunk(
  columns: readonly OpenColumn[],
  place: ChunkPlace
): Generator<undefined, Uint8Array> {
  const { first, documents, rowBytes } = place
  const keys = new Float64Array(documents)
  const present = new Float64Array(documents)
  const parts: Uint8Array[] = []
  for (const column of columns) {
    column.read(first, keys)
    const words = new Uint32Array(rowBytes / 4)
    let count = 0
    for (let i = 0; i < documents; i++) {
      const key = keys[i]!
      if (Number.isNaN(key)) continue
      words[i >>> 5]! |= 1 << (i & 31)
      present[count++] = key
    }
    const outside = column.outside.encode(first, documents, rowBytes)
    const members = encodeRow(words, documents, rowBytes)
    parts.push(lengthOf(outside), outside, lengthOf(members), members, encodeKeys(present.subarray(0, count)))
    yield
  }
  const record = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    record.set(part, offset)
    offset += part.length
  }
  return record
}

/** Adds what the record holds to the columns; false when it is damaged. */
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
 * A width byte and the keys: 1, 2 or 4 bytes each, unsigned, on top of the least key (a double), where all of them are
 * integers that close together; 8 for the doubles themselves. All little-endian.
 */
function encodeKeys(keys: Float64Array): Uint8Array {
  let least = Number.POSITIVE_INFINITY
  let greatest = Number.NEGATIVE_INFINITY
  let areIntegers = true
  // By index: an iterator makes two objects for each key until its code is compiled, and this runs seldom.
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!
    least = Math.min(least, key)
    greatest = Math.max(greatest, key)
    areIntegers &&= Number.isSafeInteger(key)
  }
  const width = areIntegers ? widthOf(greatest - least) : 8
  const head = width === 8 ? 1 : 9
  const bytes = new Uint8Array(head + width * keys.length)
  const view = new DataView(bytes.buffer)
  bytes[0] = width
  if (width !== 8) view.setFloat64(1, least, true)
  for (let i = 0, at = head; i < keys.length; i++, at += width) {
    const key = keys[i]!
    if (width === 8) view.setFloat64(at, key, true)
    else if (width === 4) view.setUint32(at, key - least, true)
    else if (width === 2) view.setUint16(at, key - least, true)
    else view.setUint8(at, key - least)
  }
  return bytes
}

/** Of unsigned integers up to `span`; of none, where it is negative, any will do. */
function widthOf(span: number): 1 | 2 | 4 | 8 {
  return span < 0x100 ? 1 : span < 0x1_0000 ? 2 : span < 0x1_0000_0000 ? 4 : 8
}

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

function lengthOf(row: Uint8Array): Uint8Array {
  return Uint8Array.of(row.length & 0xff, row.length >>> 8)
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

/** Writes the positions of the bits that are set; returns how many there are. */
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

  /** The next bytes; undefined where there are not as many. */
  take(length: number): DataView | undefined {
    const start = this.#offset
    if (start + length > this.#bytes.length) return undefined
    this.#offset += length
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + start, length)
  }
}
