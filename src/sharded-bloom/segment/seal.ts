/**
 * Turns an open segment into a sealed one: a whole tail instead of chunks, every private row in its smallest shape,
 * identical rows stored once.
 *
 * Rows are written in batches of bounded size, yielding to the event loop in between. Nothing refers to them before the
 * segment's record, which the caller writes last.
 *
 * REQUIRES: nothing is added to the segment meanwhile.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { runInSlices, TimeSlice, yieldIfTurnLong } from '../../model/time-slice.ts'
import type { IndexStore, IndexWrite } from '../document-index.ts'
import type { StoredColumn } from '../ranges/column-record.ts'
import { sealColumn } from '../ranges/seal-column.ts'
import { IndexArea, indexKey } from '../records/index-keys.ts'
import { ScratchArena } from '../records/scratch-arena.ts'
import { sealedRowBytes } from './geometry.ts'
import type { OpenSegment } from './open-segment.ts'
import { pairTableSteps } from './pair-table.ts'
import { sealedRowsAtOnce } from './private-rows.ts'
import { frameBytes } from './row-cache.ts'
import { ALL_DOCUMENTS, encodeRow, NO_DOCUMENT, RowShape } from './row-codec.ts'
import type { SegmentBytes, SegmentRecord } from './segment-record.ts'
import type { TailRecord } from './tail/tail.ts'

const framesPerBatch = 32
const privateRowsPerBatch = 2 * sealedRowsAtOnce

/** @param storedAt identifies the segment in the keys of its records */
export async function sealSegment(
  segment: OpenSegment,
  store: IndexStore,
  memory: RowMemory,
  tunings: number,
  storedAt = segment.firstOrdinal
): Promise<SegmentRecord> {
  await segment.tail.loadAll()
  const { record: tail, bytes: tailBytes } = await writeTail(segment, store, storedAt)
  // The memory of `rows`.
  const arena = new ScratchArena()
  const rows = new StoredRows(memory)
  const { rowOfSlot, bytes: privateRows } = await writePrivateRows(segment, store, rows, storedAt, arena)
  const { columns, bytes: rangeCodes } = await writeColumns(segment, store, memory, rows, storedAt, arena)
  arena.close()
  const pairs = segment.privatePairs()
  const pairTable = await runInSlices(pairTableSteps(pairs, rowOfSlot, segment.pairTexts))
  await store.write([{ key: indexKey(IndexArea.pairTable, storedAt), value: pairTable.bytes }])
  return {
    firstOrdinal: segment.firstOrdinal,
    documents: segment.documents,
    span: segment.documents,
    storedAt,
    isSealed: true,
    ...tail,
    hashedPairs: segment.hashedPairs,
    isShapeComplete: segment.isShapeComplete,
    tunings,
    alwaysCandidates: segment.alwaysCandidates,
    pairs: [],
    rowOfSlot: [],
    storedPairs: pairs.length,
    storedPaths: pairTable.paths,
    storedRows: rows.count,
    columnSpecs: [],
    columns,
    bytes: { ...tailBytes, privateRows, rangeCodes, pairTable: pairTable.bytes.length }
  }
}

type TailBytes = Pick<SegmentBytes, 'hashedRows' | 'fingerprints' | 'upperLevel'>

function tailPartOf(key: Uint8Array): keyof TailBytes {
  switch (key[0]) {
    case IndexArea.hashedRows:
      return 'hashedRows'
    case IndexArea.upperLevel:
      return 'upperLevel'
    default:
      return 'fingerprints'
  }
}

async function writeTail(
  segment: OpenSegment,
  store: IndexStore,
  storedAt: number
): Promise<{ readonly record: TailRecord; readonly bytes: TailBytes }> {
  let writes: IndexWrite[] = []
  let arena = new ScratchArena()
  const bytes = { hashedRows: 0, fingerprints: 0, upperLevel: 0 }
  const steps = segment.tail.sealedWrites(storedAt, segment.documents, () => arena)
  const timeSlice = new TimeSlice()
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) {
      if (writes.length > 0) await store.write(writes)
      arena.close()
      return { record: value, bytes }
    }
    if (timeSlice.isOver()) await timeSlice.renew()
    if (value === undefined) continue
    bytes[tailPartOf(value.key)] += value.value.length
    writes.push(value)
    if (writes.length < framesPerBatch) continue
    await store.write(writes)
    writes = []
    arena.close()
    arena = new ScratchArena()
  }
}

async function writePrivateRows(
  segment: OpenSegment,
  store: IndexStore,
  stored: StoredRows,
  storedAt: number,
  arena: ScratchArena
): Promise<{ readonly rowOfSlot: readonly number[]; readonly bytes: number }> {
  const { documents, privateRows } = segment
  const rowBytes = sealedRowBytes(documents)
  const rowOfSlot: number[] = []
  let bytes = 0
  const timeSlice = new TimeSlice()
  for (let begin = 0; begin < privateRows.count; begin += privateRowsPerBatch) {
    const writes: IndexWrite[] = []
    const end = Math.min(begin + privateRowsPerBatch, privateRows.count)
    for (let from = begin; from < end; from += sealedRowsAtOnce) {
      if (timeSlice.isOver()) await timeSlice.renew()
      for (const value of privateRows.encode(from, Math.min(from + sealedRowsAtOnce, end), rowBytes, arena)) {
        const { index, isNew } = stored.add(value)
        rowOfSlot.push(index)
        if (!isNew) continue
        bytes += value.length
        writes.push({ key: indexKey(IndexArea.privateRow, storedAt, index), value })
      }
    }
    if (writes.length > 0) await store.write(writes)
  }
  return { rowOfSlot, bytes }
}

/** Writes the columns one by one; each takes a few milliseconds. */
async function writeColumns(
  segment: OpenSegment,
  store: IndexStore,
  memory: RowMemory,
  stored: StoredRows,
  storedAt: number,
  arena: ScratchArena
): Promise<{ readonly columns: readonly StoredColumn[]; readonly bytes: number }> {
  const { documents } = segment
  const rowBytes = sealedRowBytes(documents)
  const columns: StoredColumn[] = []
  let bytes = 0
  let firstKeys = 0
  for (const column of segment.columns.all) {
    const writes: IndexWrite[] = []
    const scratch = new ScratchArena()
    const write = (key: Uint8Array, value: Uint8Array): void => {
      bytes += value.length
      writes.push({ key, value })
    }
    const place = (row: Uint8Array): number => {
      const { index, isNew } = stored.add(row)
      if (isNew) write(indexKey(IndexArea.privateRow, storedAt, index), row)
      return index
    }
    const { kind, rows, keys } = await runInSlices(sealColumn(column, documents, memory, scratch))
    await yieldIfTurnLong()
    const { min, max, count, spec } = column
    const numbers = rows.map((row) => place(encodeRow(row, documents, rowBytes, memory, arena)))
    const outsideWords = column.outside.words(0, rowBytes * 8)
    const outside = place(encodeRow(outsideWords, documents, rowBytes, memory, arena))
    columns.push({ ...spec, kind, count, min, max, rows: numbers, outside, keys: keys.length, firstKeys })
    const all = new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength)
    for (let offset = 0; offset < all.length; offset += frameBytes) {
      write(indexKey(IndexArea.columnKeys, storedAt, firstKeys++), all.subarray(offset, offset + frameBytes))
    }
    await store.write(writes)
    scratch.close()
  }
  return { columns, bytes }
}

/** Numbers the distinct rows; many paths occur in exactly the same documents. `none` and `all` rows get no number. */
class StoredRows {
  readonly #memory: RowMemory
  readonly #rows: Uint8Array[] = []
  readonly #byHash = new Map<number, number[]>()

  constructor(memory: RowMemory) {
    this.#memory = memory
  }

  get count(): number {
    return this.#rows.length
  }

  add(row: Uint8Array): { readonly index: number; readonly isNew: boolean } {
    if (row[0] === RowShape.none) return { index: NO_DOCUMENT, isNew: false }
    if (row[0] === RowShape.all) return { index: ALL_DOCUMENTS, isNew: false }
    const hash = hashBytes(row)
    const candidates = this.#byHash.get(hash)
    const known = candidates?.find((index) => equalBytes(this.#rows[index]!, row, this.#memory))
    if (known !== undefined) return { index: known, isNew: false }
    const index = this.#rows.length
    this.#rows.push(row)
    if (candidates === undefined) this.#byHash.set(hash, [index])
    else candidates.push(index)
    return { index, isNew: true }
  }
}

/** FNV-1a of the length and some of the bytes; rows with equal hashes are compared. */
function hashBytes(bytes: Uint8Array): number {
  let hash = 0x811c9dc5 ^ bytes.length
  const stride = 1 + (bytes.length >>> 6)
  for (let i = 0; i < bytes.length; i += stride) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  return hash
}

function equalBytes(a: Uint8Array, b: Uint8Array, memory: RowMemory): boolean {
  if (a.length !== b.length) return false
  const { kernels, u8 } = memory
  const length = (a.length + 15) & ~15
  const from = memory.push(length)
  const to = memory.push(length)
  // Clear what the last vectors hold beyond the bytes.
  u8.fill(0, to - 16, to)
  u8.fill(0, to + length - 16, to + length)
  u8.set(a, from)
  u8.set(b, to)
  const isEqual = kernels.equal(from, to, length) === 1
  memory.pop(from)
  return isEqual
}
