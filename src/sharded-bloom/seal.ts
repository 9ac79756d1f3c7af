/**
 * Open segment → sealed segment: whole rows instead of chunks, every private row in its smallest shape, identical ones
 * stored once.
 *
 * Rows are written in batches of bounded size, so that the event loop breathes; nothing refers to them before the
 * segment's record, which the caller writes last.
 */
import type { RowMemory } from '../bloom/kernels/index.ts'
import type { IndexStore, IndexWrite } from './document-index.ts'
import { sealedRowBytes, sealedRowsPerFrame } from './geometry.ts'
import { IndexArea, indexKey } from './index-keys.ts'
import type { OpenSegment } from './open-segment.ts'
import { frameBytes } from './row-cache.ts'
import { RowShape } from './row-codec.ts'
import { ALL_DOCUMENTS, NO_DOCUMENT, type SegmentRecord } from './segment-record.ts'

const framesPerBatch = 32
const privateRowsPerBatch = 128

export async function sealSegment(
  segment: OpenSegment,
  store: IndexStore,
  memory: RowMemory,
  tunings: number
): Promise<SegmentRecord> {
  const hashedRows = await writeHashedRows(segment, store, memory)
  const { rowOfSlot, bytes } = await writePrivateRows(segment, store)
  return {
    firstOrdinal: segment.firstOrdinal,
    documents: segment.documents,
    isSealed: true,
    shards: segment.shards,
    rowsPerPair: segment.rowsPerPair,
    hashedPairs: segment.hashedPairs,
    isShapeComplete: segment.isShapeComplete,
    tunings,
    alwaysCandidates: segment.alwaysCandidates,
    pairs: segment.table.pairs.map(({ path, tag, key }) => ({ path, tag, key })),
    rowOfSlot,
    bytes: { hashedRows, privateRows: bytes }
  }
}

async function writeHashedRows(segment: OpenSegment, store: IndexStore, memory: RowMemory): Promise<number> {
  const rowBytes = sealedRowBytes(segment.documents)
  const rowsPerFrame = sealedRowsPerFrame(segment.documents)
  const frames = Math.ceil(segment.shards / rowsPerFrame)
  let bytes = 0
  for (let begin = 0; begin < frames; begin += framesPerBatch) {
    const writes: IndexWrite[] = []
    for (let frame = begin; frame < Math.min(frames, begin + framesPerBatch); frame++) {
      const rows = Math.min(rowsPerFrame, segment.shards - frame * rowsPerFrame)
      const value = new Uint8Array(rows * rowBytes)
      const scratch = memory.push(frameBytes)
      for (let i = 0; i < rows; i++) {
        segment.copyHashedRow(frame * rowsPerFrame + i, scratch)
        value.set(memory.u8.subarray(scratch, scratch + rowBytes), i * rowBytes)
      }
      memory.pop(scratch)
      bytes += value.length
      writes.push({ key: indexKey(IndexArea.hashedRows, segment.firstOrdinal, frame), value })
    }
    await store.write(writes)
  }
  return bytes
}

async function writePrivateRows(
  segment: OpenSegment,
  store: IndexStore
): Promise<{ readonly rowOfSlot: readonly number[]; readonly bytes: number }> {
  const { documents, privateRows } = segment
  const rowBytes = sealedRowBytes(documents)
  const rowOfSlot: number[] = []
  const identical = new IdenticalRows()
  let bytes = 0
  for (let begin = 0; begin < privateRows.length; begin += privateRowsPerBatch) {
    const writes: IndexWrite[] = []
    for (const row of privateRows.slice(begin, begin + privateRowsPerBatch)) {
      const value = row.encode(0, documents, rowBytes)
      if (value[0] === RowShape.none) rowOfSlot.push(NO_DOCUMENT)
      else if (value[0] === RowShape.all) rowOfSlot.push(ALL_DOCUMENTS)
      else {
        const { index, isNew } = identical.add(value)
        rowOfSlot.push(index)
        if (!isNew) continue
        bytes += value.length
        writes.push({ key: indexKey(IndexArea.privateRow, segment.firstOrdinal, index), value })
      }
    }
    if (writes.length > 0) await store.write(writes)
  }
  return { rowOfSlot, bytes }
}

/** Numbers distinct rows; many paths occur in exactly the same documents. */
class IdenticalRows {
  readonly #rows: Uint8Array[] = []
  readonly #byHash = new Map<number, number[]>()

  add(row: Uint8Array): { readonly index: number; readonly isNew: boolean } {
    const hash = hashBytes(row)
    const candidates = this.#byHash.get(hash)
    const known = candidates?.find((index) => equalBytes(this.#rows[index]!, row))
    if (known !== undefined) return { index: known, isNew: false }
    const index = this.#rows.length
    this.#rows.push(row)
    if (candidates === undefined) this.#byHash.set(hash, [index])
    else candidates.push(index)
    return { index, isNew: true }
  }
}

/** FNV-1a; rows with one hash are compared. */
function hashBytes(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}
