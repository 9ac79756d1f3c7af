/**
 * The record that makes a segment visible: its parameters, its private pairs and where their rows are.
 *
 * JSON, written last in the batch that completes a checkpoint or a seal. Every number is checked before it is used; a
 * record that does not hold together is damage, and the index is built again from the documents.
 */
import { PetalError } from '../model/errors.ts'
import { maxSegmentDocuments } from './geometry.ts'
import type { TaggedPair } from './pair-tags.ts'

export interface SegmentRecord {
  readonly firstOrdinal: number
  /** Positions covered by what is stored. */
  readonly documents: number
  readonly isSealed: boolean
  readonly shards: number
  readonly rowsPerPair: number
  readonly hashedPairs: number
  readonly isShapeComplete: boolean
  /** How often the parameters were chosen again (see sharded-index.ts). */
  readonly tunings: number
  readonly alwaysCandidates: readonly number[]
  /** Private pairs in slot order. */
  readonly pairs: readonly TaggedPair[]
  /** Sealed segments: which stored row each slot reads; −1 for no document, −2 for all documents. */
  readonly rowOfSlot: readonly number[]
  /** Bytes stored for this segment, by part. */
  readonly bytes: { readonly hashedRows: number; readonly privateRows: number }
}

export const NO_DOCUMENT = -1
export const ALL_DOCUMENTS = -2

const maxShards = 65_536
const maxPairs = 65_536

type StoredKey = number | string
type StoredPair = readonly [path: string, tag: number, key: StoredKey]

export function encodeSegmentRecord(record: SegmentRecord): Uint8Array {
  const pairs: StoredPair[] = record.pairs.map(({ path, tag, key }) => [path, tag, storedKey(key)])
  return new TextEncoder().encode(JSON.stringify({ ...record, pairs }))
}

/** @throws PetalError IndexDamaged */
export function decodeSegmentRecord(bytes: Uint8Array): SegmentRecord {
  let value: Record<string, unknown>
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Record<string, unknown>
  } catch (cause) {
    throw new PetalError('IndexDamaged', 'A segment record of the index is not readable', { cause })
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
  const shards = integer('shards', 64, maxShards)
  if (shards % 64 !== 0) throw damaged('shards')
  const rowOfSlot = list('rowOfSlot', maxPairs).map((row) => {
    if (!Number.isSafeInteger(row) || (row as number) < ALL_DOCUMENTS || (row as number) > maxPairs) {
      throw damaged('rowOfSlot')
    }
    return row as number
  })
  const isSealed = value.isSealed === true
  if (isSealed && rowOfSlot.length !== pairs.length) throw damaged('rowOfSlot')
  const bytesByPart = value.bytes as { hashedRows?: unknown; privateRows?: unknown } | undefined
  return {
    firstOrdinal: integer('firstOrdinal', 0, Number.MAX_SAFE_INTEGER),
    documents,
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
    bytes: { hashedRows: Number(bytesByPart?.hashedRows ?? 0), privateRows: Number(bytesByPart?.privateRows ?? 0) }
  }
}

function parsePair(value: unknown): TaggedPair {
  if (!Array.isArray(value) || value.length !== 3) throw damaged('pairs')
  const [path, tag, key] = value as unknown[]
  if (typeof path !== 'string' || !Number.isInteger(tag)) throw damaged('pairs')
  if (typeof key === 'string' || typeof key === 'number') return { path, tag: tag as number, key }
  const number = Array.isArray(key) ? specialNumbers.get(String(key[0])) : undefined
  if (number === undefined) throw damaged('pairs')
  return { path, tag: tag as number, key: number }
}

/** Doubles that JSON has no text for are written as a list of one name. */
const specialNumbers = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY]
])

function storedKey(key: StoredKey): StoredKey {
  if (typeof key === 'string' || Number.isFinite(key)) return key
  return [String(key)] as unknown as StoredKey
}

function damaged(field: string): PetalError {
  return new PetalError('IndexDamaged', `A segment record of the index has an impossible '${field}'`, {
    details: { field }
  })
}
