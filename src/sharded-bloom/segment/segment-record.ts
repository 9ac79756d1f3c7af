/**
 * The record that makes a segment visible: its parameters, its private pairs and the location of their rows.
 *
 * JSON, written last in the batch that completes a checkpoint or a seal. Every number is checked before use; an
 * inconsistent record is damage, and the index is rebuilt from the documents.
 */
import { PetalError } from '../../model/errors.ts'
import type { TaggedPair } from '../pairs/pair-tags.ts'
import {
  decodeColumns,
  decodeSpecs,
  encodeColumns,
  encodeSpecs,
  maxStoredRows,
  type StoredColumn
} from '../ranges/column-record.ts'
import type { ColumnSpec } from '../ranges/column-spec.ts'
import { decodeDouble, encodeDouble, type StoredDouble } from '../ranges/stored-double.ts'
import { firstRebuilt } from '../records/index-keys.ts'
import { maxSegmentDocuments } from './geometry.ts'
import { maxSpan } from './position-map.ts'
import { ALL_DOCUMENTS } from './row-codec.ts'
import { maxBucketBits, maxFingerprintBits, maxFingerprintBytes, minFingerprintBits } from './tail/limits.ts'
import type { UpperLevelRecord } from './upper-level.ts'

export interface SegmentRecord {
  readonly firstOrdinal: number
  /** Number of positions stored. */
  readonly documents: number
  /** Number of ordinals covered, from the first on: more than `documents` if a position map leaves dead ones out. */
  readonly span: number
  /** Identifies the segment in the keys of its records: its first ordinal, unless it was rebuilt. */
  readonly storedAt: number
  readonly isSealed: boolean
  readonly shards: number
  readonly rowsPerPair: number
  readonly hashedPairs: number
  readonly isShapeComplete: boolean
  /** How often the parameters were chosen again (see sharded-index.ts). */
  readonly tunings: number
  readonly alwaysCandidates: readonly number[]
  /** Private pairs in slot order: of an open segment before format 9, or of one sealed in format 2. */
  readonly pairs: readonly TaggedPair[]
  /** Stored row of each of `pairs`, in format 2; −1 for no document, −2 for all documents. */
  readonly rowOfSlot: readonly number[]
  /** Number of private pairs that have a record of their own (see pair-table.ts and open-pairs.ts). */
  readonly storedPairs: number
  /** Number of different paths of these; not present before format 8 (see earlier-pair-table.ts). */
  readonly storedPaths?: number
  /** Number of rows of a sealed segment in records of their own: private rows and those of columns. */
  readonly storedRows: number
  /** Values kept as columns (see ranges/), of an open segment. */
  readonly columnSpecs: readonly ColumnSpec[]
  /** Columns of a sealed segment. */
  readonly columns: readonly StoredColumn[]
  readonly upper: UpperLevelRecord
  /** Present for a fingerprint tail; otherwise the tail is a Bloom tail. */
  readonly fingerprints?: FingerprintRecord
  /** In a Bloom tail: a document with more hashed pairs is crowded. Not present before format 7. */
  readonly crowdedPairs?: number
  /** Present if there are crowded documents: their fingerprints. */
  readonly crowded?: CrowdedRecord
  readonly bytes: SegmentBytes
}

/** Storage parameters of fingerprints: see tail/codec.ts. */
export interface FingerprintRecord {
  /** H: bits of a code. */
  readonly bits: number
  /** Leading bits of the code that give its bucket. 0 in an open segment, as is `bytes`. */
  readonly bucketBits: number
  /** Bytes of all buckets. */
  readonly bytes: number
}

export interface CrowdedRecord extends FingerprintRecord {
  /** In an open segment, the position from which on documents have fingerprints, the start of a chunk. */
  readonly from: number
  /** Number of crowded documents. */
  readonly documents: number
}

/** Bytes stored for a segment, by part. */
export interface SegmentBytes {
  /** Before format 7, of a fingerprint tail, too. */
  readonly hashedRows: number
  readonly fingerprints: number
  readonly privateRows: number
  readonly rangeCodes: number
  readonly upperLevel: number
  readonly pairTable: number
}

export const noBytes: SegmentBytes = {
  hashedRows: 0,
  fingerprints: 0,
  privateRows: 0,
  rangeCodes: 0,
  upperLevel: 0,
  pairTable: 0
}

const decoder = new TextDecoder('utf-8', { fatal: true })
const maxShards = 65_536
const maxPairs = 65_536

export type StoredPair = readonly [path: string, tag: number, key: StoredDouble | string]

export function encodeSegmentRecord(record: SegmentRecord): Uint8Array {
  const pairs = record.pairs.map(storedPair)
  const columnSpecs = encodeSpecs(record.columnSpecs)
  const columns = encodeColumns(record.columns)
  // Omitted for most segments: records are keyed by the first ordinal, and positions are consecutive ordinals.
  const storedAt = record.storedAt === record.firstOrdinal ? undefined : record.storedAt
  const span = record.span === record.documents ? undefined : record.span
  return new TextEncoder().encode(JSON.stringify({ ...record, storedAt, span, pairs, columnSpecs, columns }))
}

/** @throws PetalError IndexDamaged */
export function decodeSegmentRecord(bytes: Uint8Array): SegmentRecord {
  let value: Record<string, unknown>
  try {
    value = JSON.parse(decoder.decode(bytes)) as Record<string, unknown>
  } catch (cause) {
    throw new PetalError('IndexDamaged', 'A segment record of the index is unreadable', { cause })
  }
  const integer = (name: string, low: number, high: number): number => {
    const number = value[name]
    if (!Number.isSafeInteger(number) || (number as number) < low || (number as number) > high) throw damaged(name)
    return number as number
  }
  const list = (name: string, length: number): readonly unknown[] => {
    const items = value[name]
    if (!Array.isArray(items) || items.length > length) throw damaged(name)
    return items
  }
  const documents = integer('documents', 0, maxSegmentDocuments)
  const pairs = list('pairs', maxPairs).map(parsePair)
  const fingerprints = value.fingerprints === undefined ? undefined : decodeFingerprints(value.fingerprints)
  if (value.fingerprints !== undefined && fingerprints === undefined) throw damaged('fingerprints')
  // A version without fingerprints considers a segment without rows damaged, and rebuilds the index.
  const shards = fingerprints === undefined ? integer('shards', 64, maxShards) : integer('shards', 0, 0)
  if (shards % 64 !== 0) throw damaged('shards')
  const crowdedPairs =
    value.crowdedPairs === undefined ? undefined : integer('crowdedPairs', 1, Number.MAX_SAFE_INTEGER)
  const crowded = value.crowded === undefined ? undefined : decodeCrowded(value.crowded)
  if (value.crowded !== undefined && (crowded === undefined || crowdedPairs === undefined)) throw damaged('crowded')
  const rowOfSlot = list('rowOfSlot', maxPairs).map((row) => {
    if (!Number.isSafeInteger(row) || (row as number) < ALL_DOCUMENTS || (row as number) > maxPairs) {
      throw damaged('rowOfSlot')
    }
    return row as number
  })
  const isSealed = value.isSealed === true
  const firstOrdinal = integer('firstOrdinal', 0, Number.MAX_SAFE_INTEGER)
  const span = value.span === undefined ? documents : integer('span', documents, maxSpan)
  const storedAt =
    value.storedAt === undefined ? firstOrdinal : integer('storedAt', firstRebuilt, Number.MAX_SAFE_INTEGER)
  if (!isSealed && (span !== documents || storedAt !== firstOrdinal)) throw damaged('span')
  if (isSealed && rowOfSlot.length !== pairs.length) throw damaged('rowOfSlot')
  const storedPaths = value.storedPaths === undefined ? undefined : integer('storedPaths', 0, maxPairs)
  const columnSpecs = decodeSpecs(value.columnSpecs)
  const columns = decodeColumns(value.columns, documents)
  const storedPairs = value.storedPairs === undefined ? 0 : integer('storedPairs', 0, maxPairs)
  if (storedPairs > 0 && pairs.length > 0) throw damaged('pairs')
  if (columnSpecs === undefined) throw damaged('columnSpecs')
  if (columns === undefined) throw damaged('columns')
  // Before format 3 it followed from the row numbers.
  let leastRows = 0
  const name = (row: number): void => {
    leastRows = Math.max(leastRows, row + 1)
  }
  rowOfSlot.forEach(name)
  for (const { rows, outside } of columns) {
    rows.forEach(name)
    name(outside)
  }
  const storedRows = value.storedRows === undefined ? leastRows : integer('storedRows', leastRows, maxStoredRows)
  const upper = decodeUpper(value.upper)
  if (upper === undefined) throw damaged('upper')
  const parts = value.bytes as { readonly [Part in keyof SegmentBytes]?: unknown } | undefined
  return {
    firstOrdinal,
    documents,
    span,
    storedAt,
    isSealed,
    shards,
    rowsPerPair: integer('rowsPerPair', 1, 32),
    hashedPairs: integer('hashedPairs', 0, Number.MAX_SAFE_INTEGER),
    isShapeComplete: value.isShapeComplete === true,
    tunings: integer('tunings', 0, 100),
    alwaysCandidates: list('alwaysCandidates', maxSegmentDocuments).map((position) => {
      if (!Number.isSafeInteger(position) || (position as number) < 0 || (position as number) >= documents) {
        throw damaged('alwaysCandidates')
      }
      return position as number
    }),
    pairs,
    rowOfSlot,
    storedPairs,
    ...(storedPaths !== undefined && { storedPaths }),
    storedRows,
    columnSpecs,
    columns,
    upper,
    ...(fingerprints && { fingerprints }),
    ...(crowdedPairs && { crowdedPairs }),
    ...(crowded && { crowded }),
    bytes: {
      hashedRows: Number(parts?.hashedRows ?? 0),
      fingerprints: Number(parts?.fingerprints ?? 0),
      privateRows: Number(parts?.privateRows ?? 0),
      rangeCodes: Number(parts?.rangeCodes ?? 0),
      upperLevel: Number(parts?.upperLevel ?? 0),
      pairTable: Number(parts?.pairTable ?? 0)
    }
  }
}

function decodeUpper(value: unknown): UpperLevelRecord | undefined {
  const { frames, groupDocuments, unknownGroups } = (value ?? {}) as Partial<Record<keyof UpperLevelRecord, unknown>>
  if (!Number.isInteger(frames) || (frames as number) < 0 || (frames as number) > maxShards) return undefined
  if (!Number.isInteger(groupDocuments) || (groupDocuments as number) < 1) return undefined
  return {
    frames: frames as number,
    groupDocuments: groupDocuments as number,
    unknownGroups: Number(unknownGroups) | 0
  }
}

function isBetween(number: unknown, low: number, high: number): number is number {
  return Number.isSafeInteger(number) && (number as number) >= low && (number as number) <= high
}

function decodeCrowded(value: unknown): CrowdedRecord | undefined {
  const fingerprints = decodeFingerprints(value)
  const { from, documents } = (value ?? {}) as Partial<Record<keyof CrowdedRecord, unknown>>
  if (fingerprints === undefined || !isBetween(from, 0, maxSegmentDocuments)) return undefined
  return isBetween(documents, 0, maxSegmentDocuments) ? { ...fingerprints, from, documents } : undefined
}

function decodeFingerprints(value: unknown): FingerprintRecord | undefined {
  const { bits, bucketBits, bytes } = (value ?? {}) as Partial<Record<keyof FingerprintRecord, unknown>>
  if (!isBetween(bits, minFingerprintBits, maxFingerprintBits)) return undefined
  if (!isBetween(bucketBits, 0, Math.min(bits, maxBucketBits)) || !isBetween(bytes, 0, maxFingerprintBytes))
    return undefined
  return { bits, bucketBits, bytes }
}

/** Returns the pair's stored form, for JSON. */
export function storedPair({ path, tag, key }: TaggedPair): StoredPair {
  return [path, tag, typeof key === 'string' ? key : encodeDouble(key)]
}

/** Parses a pair made by storedPair(). @throws PetalError IndexDamaged */
export function parsePair(value: unknown): TaggedPair {
  if (!Array.isArray(value) || value.length !== 3) throw damaged('pairs')
  const path: unknown = value[0]
  const tag: unknown = value[1]
  if (typeof path !== 'string' || !Number.isInteger(tag)) throw damaged('pairs')
  return { path, tag: tag as number, key: parseKey(value[2]) }
}

/** Parses the key of such a pair. @throws PetalError IndexDamaged */
export function parseKey(value: unknown): TaggedPair['key'] {
  const key = typeof value === 'string' ? value : decodeDouble(value)
  if (key === undefined) throw damaged('pairs')
  return key
}

function damaged(field: string): PetalError {
  return new PetalError('IndexDamaged', `A segment record of the index has an invalid '${field}'`, {
    details: { field }
  })
}
