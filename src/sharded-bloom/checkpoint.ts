/**
 * An open segment as records: what a checkpoint writes and what opening takes back.
 *
 * A chunk of documents is the frames of its hashed rows, and a record each of what else there is: every private row's
 * bits of the chunk, the keys of its columns, the upper level of its groups. Chunks are written once when they are complete, and the last, partial one when the index closes.
 */
import type { RowMemory } from '../bloom/kernels/index.ts'
import { PetalError } from '../model/errors.ts'
import { breathe } from '../model/time-slice.ts'
import type { IndexStore, IndexWrite } from './document-index.ts'
import { framesPerChunk, type Geometry } from './geometry.ts'
import { IndexArea, indexKey, indexRange, numberOf } from './index-keys.ts'
import { OpenSegment } from './open-segment.ts'
import type { PairHash } from './pair-hash.ts'
import { type ChunkPlace, decodeColumnChunk, encodeColumnChunk } from './ranges/column-chunk.ts'
import { frameBytes } from './row-cache.ts'
import { decodePositions, decodeRow, encodingRoom, RowShape } from './row-codec.ts'
import type { SegmentRecord } from './segment-record.ts'

/** Stored rows up to this length are read position by position; bits take longer. */
const shortRow = 64

/** Records of the documents [from, to) of the segment; `from` is the start of a chunk. */
export function* chunkWrites(
  segment: OpenSegment,
  geometry: Geometry,
  from: number,
  to: number
): Generator<IndexWrite & { readonly value: Uint8Array }> {
  const first = segment.firstOrdinal
  for (let chunk = from / geometry.chunkDocuments; chunk * geometry.chunkDocuments < to; chunk++) {
    let frame = 0
    for (const value of segment.rows.chunkFrames(chunk)) {
      yield { key: indexKey(IndexArea.chunkRows, first, chunk, frame++), value }
    }
    const documents = Math.min(geometry.chunkDocuments, to - chunk * geometry.chunkDocuments)
    yield {
      key: indexKey(IndexArea.chunkPrivate, first, chunk),
      value: encodePrivateRows(segment, geometry, chunk, documents)
    }
    if (segment.columnSpecs.length > 0) {
      yield {
        key: indexKey(IndexArea.chunkColumns, first, chunk),
        value: encodeColumnChunk(segment.columns.columns, placeOf(geometry, chunk, documents))
      }
    }
    if (segment.upperFrames > 0) {
      const { chunkDocuments } = geometry
      const value = segment.upper.chunk(chunk * chunkDocuments, chunkDocuments)
      yield { key: indexKey(IndexArea.chunkUpper, first, chunk), value }
    }
  }
}

/** The record of an open segment whose first `documents` documents are in chunk records. */
export function openSegmentRecord(
  segment: OpenSegment,
  documents: number,
  tunings: number,
  bytes: SegmentRecord['bytes']
): SegmentRecord {
  return {
    firstOrdinal: segment.firstOrdinal,
    documents,
    span: documents,
    storedAt: segment.firstOrdinal,
    isSealed: false,
    shards: segment.shards,
    rowsPerPair: segment.rowsPerPair,
    hashedPairs: segment.hashedPairs,
    isShapeComplete: segment.isShapeComplete,
    tunings,
    alwaysCandidates: segment.alwaysCandidates.filter((position) => position < documents),
    pairs: segment.table.pairs.map(({ path, tag, key }) => ({ path, tag, key })),
    rowOfSlot: [],
    storedPairs: 0,
    storedRows: 0,
    columnSpecs: segment.columnSpecs,
    columns: [],
    upper: segment.upper.record,
    bytes
  }
}

/** @throws PetalError IndexDamaged when chunks are missing or do not fit the record */
export async function restoreOpenSegment(
  record: SegmentRecord,
  store: IndexStore,
  memory: RowMemory,
  geometry: Geometry,
  pairHash: PairHash
): Promise<OpenSegment> {
  const segment = new OpenSegment(memory, geometry, pairHash, record.firstOrdinal, {
    shards: record.shards,
    rowsPerPair: record.rowsPerPair,
    privatePairs: record.pairs.map((pair) => pairHash.hash(pair)),
    columns: record.columnSpecs,
    upperFrames: record.upper.frames
  })
  try {
    const chunks = Math.ceil(record.documents / geometry.chunkDocuments)
    const frames = await readFrames(record, store, geometry, chunks)
    segment.isShapeComplete = record.isShapeComplete
    segment.alwaysCandidates.push(...record.alwaysCandidates)
    segment.restore(record.documents, record.hashedPairs, frames)
    let sliceStart = performance.now()
    for (let chunk = 0; chunk < chunks; chunk++) {
      sliceStart = await breathe(sliceStart)
      const bytes = await store.get(indexKey(IndexArea.chunkPrivate, record.firstOrdinal, chunk))
      if (bytes === undefined) throw damaged(record, `chunk ${chunk} has no private rows`)
      const documents = Math.min(geometry.chunkDocuments, record.documents - chunk * geometry.chunkDocuments)
      decodePrivateRows(bytes, segment, memory, geometry, chunk, documents, record)
      await readColumns(record, store, memory, segment, placeOf(geometry, chunk, documents))
      if (record.upper.frames > 0) {
        // No damage where it is missing: it only saves time.
        const upper = await store.get(indexKey(IndexArea.chunkUpper, record.firstOrdinal, chunk))
        segment.upper.restoreChunk(chunk * geometry.chunkDocuments, geometry.chunkDocuments, upper)
      }
    }
    segment.upper.forget(record.upper.unknownGroups)
    return segment
  } catch (error) {
    segment.free()
    throw error
  }
}

async function readColumns(
  record: SegmentRecord,
  store: IndexStore,
  memory: RowMemory,
  segment: OpenSegment,
  place: ChunkPlace
): Promise<void> {
  if (segment.columnSpecs.length === 0) return
  const chunk = place.first / (place.rowBytes * 8)
  const bytes = await store.get(indexKey(IndexArea.chunkColumns, record.firstOrdinal, chunk))
  if (bytes === undefined || !decodeColumnChunk(bytes, segment.columns.columns, place, memory)) {
    throw damaged(record, `the columns of chunk ${chunk} are missing or not readable`)
  }
}

function placeOf({ chunkDocuments, chunkRowBytes }: Geometry, chunk: number, documents: number): ChunkPlace {
  return { first: chunk * chunkDocuments, documents, rowBytes: chunkRowBytes }
}

async function readFrames(
  record: SegmentRecord,
  store: IndexStore,
  geometry: Geometry,
  chunks: number
): Promise<Uint8Array[][]> {
  const frameCount = framesPerChunk(record.shards, geometry)
  const frames: Uint8Array[][] = Array.from({ length: chunks }, () => [])
  for await (const [key, value] of store.scan(...indexRange(IndexArea.chunkRows, record.firstOrdinal))) {
    const chunk = numberOf(key, 0)
    const frame = numberOf(key, 1)
    if (chunk === undefined || frame === undefined || value.length !== frameBytes) {
      throw damaged(record, 'a chunk record has an impossible key or size')
    }
    // What is beyond the record was left by a crash: chunks of a checkpoint that did not complete, frames of other
    // parameters that were to be cleared.
    const target = frame < frameCount ? frames[chunk] : undefined
    if (target !== undefined) target[frame] = value
  }
  frames.forEach((chunk, i) => {
    for (let frame = 0; frame < frameCount; frame++) {
      if (chunk[frame] === undefined) throw damaged(record, `frame ${frame} of chunk ${i} is missing`)
    }
  })
  return frames
}

/** Every slot's row of the chunk, each as a length (u16, little-endian) and the row's bytes. */
function encodePrivateRows(segment: OpenSegment, geometry: Geometry, chunk: number, documents: number): Uint8Array {
  const start = chunk * geometry.chunkDocuments
  const rowBytes = geometry.chunkRowBytes
  const room = 2 + encodingRoom(rowBytes)
  let bytes = new Uint8Array(64 * room)
  let offset = 0
  for (const row of segment.privateRows) {
    if (bytes.length - offset < room) {
      const larger = new Uint8Array(2 * bytes.length)
      larger.set(bytes)
      bytes = larger
    }
    const length = row.encodeTo(bytes, offset + 2, start, documents, rowBytes)
    bytes[offset] = length
    bytes[offset + 1] = length >>> 8
    offset += 2 + length
  }
  return bytes.subarray(0, offset)
}

function decodePrivateRows(
  bytes: Uint8Array,
  segment: OpenSegment,
  memory: RowMemory,
  geometry: Geometry,
  chunk: number,
  documents: number,
  record: SegmentRecord
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const row = memory.push(frameBytes)
  const positions = new Uint16Array(shortRow)
  const rows = segment.privateRows
  const first = chunk * geometry.chunkDocuments
  try {
    let offset = 0
    // Slots that were added after the chunk was written have no bits in it.
    for (let slot = 0; slot < rows.length && offset < bytes.length; slot++) {
      const length = offset + 2 <= bytes.length ? view.getUint16(offset, true) : bytes.length
      offset += 2
      if (offset + length > bytes.length) throw damaged(record, `private row ${slot} of chunk ${chunk} is cut off`)
      const stored = bytes.subarray(offset, offset + length)
      offset += length
      // Most rows have few documents, or none, in a chunk.
      const count = length <= shortRow ? decodePositions(stored, documents, positions) : -1
      if (count >= 0) {
        for (let i = 0; i < count; i++) rows[slot]!.add(first + positions[i]!)
      } else if (stored[0] !== RowShape.none) {
        if (!decodeRow(stored, memory, row, documents, geometry.chunkRowBytes)) {
          throw damaged(record, `private row ${slot} of chunk ${chunk} is not readable`)
        }
        rows[slot]!.addWords(memory.u32.subarray(row >>> 2, (row + geometry.chunkRowBytes) >>> 2), first)
      }
    }
  } finally {
    memory.pop(row)
  }
}

function damaged(record: SegmentRecord, what: string): PetalError {
  return new PetalError('IndexDamaged', `The index segment at ordinal ${record.firstOrdinal} is damaged: ${what}`, {
    details: { firstOrdinal: record.firstOrdinal }
  })
}
