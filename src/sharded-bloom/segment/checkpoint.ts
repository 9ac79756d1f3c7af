/**
 * An open segment as records: what a checkpoint writes and what opening restores.
 *
 * A chunk of documents is stored as the records of its tail, one record with every private row's bits of the chunk, and
 * one with the keys of its columns. A chunk is written once, when it is complete; the last, partial one when the index
 * closes.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { PetalError } from '../../model/errors.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import type { IndexStore } from '../document-index.ts'
import { type ChunkPlace, decodeColumnChunk, encodeColumnChunk } from '../ranges/column-chunk.ts'
import { IndexArea, indexKey } from '../records/index-keys.ts'
import type { ScratchArena } from '../records/scratch-arena.ts'
import type { Geometry } from './geometry.ts'
import { readOpenPairs } from './open-pairs.ts'
import { OpenSegment } from './open-segment.ts'
import type { SegmentRecord } from './segment-record.ts'
import type { TailContext, TailWrite } from './tail/tail.ts'

/**
 * Yields the records of the segment's documents [from, to); `from` is the start of a chunk. Yields undefined between
 * the steps of a record that takes longer. Some values are allocated from `arena`.
 */
export function* chunkWrites(
  segment: OpenSegment,
  geometry: Geometry,
  memory: RowMemory,
  from: number,
  to: number,
  arena: ScratchArena
): Generator<TailWrite | undefined> {
  const first = segment.firstOrdinal
  // Their record needs them, if it is written.
  yield* segment.pairTexts.addSteps(segment.table.pairs)
  for (let chunk = from / geometry.chunkDocuments; chunk * geometry.chunkDocuments < to; chunk++) {
    const documents = Math.min(geometry.chunkDocuments, to - chunk * geometry.chunkDocuments)
    yield* segment.tail.chunkWrites(first, chunk, documents, arena)
    yield {
      key: indexKey(IndexArea.chunkPrivate, first, chunk),
      value: segment.privateRows.encodeChunk(chunk, documents, arena)
    }
    if (segment.columnSpecs.length > 0) {
      yield {
        key: indexKey(IndexArea.chunkColumns, first, chunk),
        value: yield* encodeColumnChunk(segment.columns.all, placeOf(geometry, chunk, documents), memory, arena)
      }
    }
  }
}

/** Yields the keys of what chunkWrites() wrote for the documents [from, to); `from` is the start of a chunk. */
export function* chunkKeys(segment: OpenSegment, geometry: Geometry, from: number, to: number): Generator<Uint8Array> {
  const first = segment.firstOrdinal
  for (let chunk = from / geometry.chunkDocuments; chunk * geometry.chunkDocuments < to; chunk++) {
    yield* segment.tail.chunkKeys(first, chunk)
    yield indexKey(IndexArea.chunkPrivate, first, chunk)
    if (segment.columnSpecs.length > 0) yield indexKey(IndexArea.chunkColumns, first, chunk)
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
    ...segment.tail.record,
    hashedPairs: segment.hashedPairs,
    isShapeComplete: segment.isShapeComplete,
    tunings,
    alwaysCandidates: segment.alwaysCandidates.filter((position) => position < documents),
    pairs: [],
    rowOfSlot: [],
    storedPairs: segment.privatePairCount,
    storedRows: 0,
    columnSpecs: segment.columnSpecs,
    columns: [],
    bytes
  }
}

/** What restoring a segment needs. */
export interface RestoreContext extends TailContext {
  readonly store: IndexStore
  /** Called when damage is found later: nothing is known then of the documents in question. */
  readonly onDamage: (message: string) => void
  /** Called when a query uses rows that are not in memory. */
  readonly onMiss: () => void
}

/**
 * Restores an open segment. Its hashed rows are read when first needed; columns, and private rows, are decoded when
 * first touched.
 * @throws PetalError IndexDamaged when chunks are missing, do not fit the record or have an unreadable row
 */
export async function restoreOpenSegment(record: SegmentRecord, context: RestoreContext): Promise<OpenSegment> {
  const { store, memory, geometry, pairHash, onDamage, onMiss } = context
  const pairs = await readOpenPairs(store, record)
  const segment = new OpenSegment(memory, geometry, pairHash, record.firstOrdinal, {
    shards: record.shards,
    rowsPerPair: record.rowsPerPair,
    privatePairs: pairs.map((pair) => pairHash.hash(pair)),
    columns: record.columnSpecs,
    upperFrames: record.upper.frames,
    fingerprintBits: record.fingerprints?.bits,
    crowdedPairs: record.crowdedPairs
  })
  try {
    const chunks = Math.ceil(record.documents / geometry.chunkDocuments)
    await segment.tail.restore({ record, store, damaged: (what) => damaged(record, what), onDamage, onMiss })
    segment.isShapeComplete = record.isShapeComplete
    segment.alwaysCandidates.push(...record.alwaysCandidates)
    segment.restore(record.documents, record.hashedPairs)
    const columns: ColumnChunk[] = []
    const timeSlice = new TimeSlice()
    for (let chunk = 0; chunk < chunks; chunk++) {
      if (timeSlice.isOver()) await timeSlice.renew()
      const bytes = await store.get(indexKey(IndexArea.chunkPrivate, record.firstOrdinal, chunk))
      if (bytes === undefined) throw damaged(record, `chunk ${chunk} has no private rows`)
      const documents = Math.min(geometry.chunkDocuments, record.documents - chunk * geometry.chunkDocuments)
      segment.privateRows.restoreChunk(bytes, documents, (what) => damaged(record, what))
      // Later, when the segment is in use, nothing could take the place of an unreadable row.
      segment.privateRows.checkRestored()
      if (record.columnSpecs.length > 0) {
        const stored = await store.get(indexKey(IndexArea.chunkColumns, record.firstOrdinal, chunk))
        if (stored === undefined) throw damaged(record, `chunk ${chunk} has no columns`)
        columns.push({ bytes: stored, place: placeOf(geometry, chunk, documents) })
      }
    }
    segment.columns.restoreLater((all) => {
      if (columns.every(({ bytes, place }) => decodeColumnChunk(bytes, all, place, memory))) return
      for (const column of all) column.forget(record.documents)
      onDamage(damaged(record, 'a record of columns is unreadable').message)
    })
    return segment
  } catch (error) {
    segment.free()
    throw error
  }
}

interface ColumnChunk {
  readonly bytes: Uint8Array
  readonly place: ChunkPlace
}

function placeOf({ chunkDocuments, chunkRowBytes }: Geometry, chunk: number, documents: number): ChunkPlace {
  return { first: chunk * chunkDocuments, documents, rowBytes: chunkRowBytes }
}

function damaged(record: SegmentRecord, what: string): PetalError {
  return new PetalError('IndexDamaged', `The index segment at ordinal ${record.firstOrdinal} is damaged: ${what}`, {
    details: { firstOrdinal: record.firstOrdinal }
  })
}
