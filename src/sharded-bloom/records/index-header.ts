/**
 * The index says what it is: format, hash, seed and segment size. What of it the caller does not choose stays as it is;
 * one that does not fit what he does choose is built again.
 */
import { type HashName, hashNames } from '../../bloom/hash.ts'
import { PetalError } from '../../model/errors.ts'
import { defaultSegmentDocuments, isSegmentSize } from '../segment/geometry.ts'

export const indexFormat = 6
/** The oldest one that is read as it is; what is written then is of this format, header first. */
const oldestFormat = 2

/** What is decided when an index is made, and makes it another one. */
export interface IndexShape {
  readonly hash: HashName
  readonly segmentDocuments: number
}

export interface IndexHeader extends IndexShape {
  readonly format: number
  /** Random per index, so that nobody can craft documents whose pairs collide. */
  readonly seedLo: number
  readonly seedHi: number
  /** Damage was met while reading: the next open builds the index again. */
  readonly isDamaged: boolean
}

/** Halves of the 64 bits that every path is hashed with, int32. */
export interface IndexSeed {
  readonly lo: number
  readonly hi: number
}

export function createHeader({ hash, segmentDocuments }: IndexShape, seed = randomSeed()): IndexHeader {
  return { format: indexFormat, hash, seedLo: seed.lo, seedHi: seed.hi, segmentDocuments, isDamaged: false }
}

function randomSeed(): IndexSeed {
  const [lo, hi] = crypto.getRandomValues(new Int32Array(2)) as unknown as readonly [number, number]
  return { lo, hi }
}

export function encodeHeader(header: IndexHeader): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(header))
}

/** As a caller gives it; what he leaves out is undefined. */
export type ShapeChoices = { readonly [K in keyof IndexShape]?: IndexShape[K] | undefined }

export interface StoredHeader {
  /** Of the index that is to be: what is chosen, else what is stored, else the default. */
  readonly shape: IndexShape
  /** undefined where the index has to be built again. */
  readonly header: IndexHeader | undefined
}

/**
 * @param bytes undefined where none are stored
 * @throws PetalError UnsupportedFormat for an index of a later version, which is left as it is
 */
export function decodeHeader(bytes: Uint8Array | undefined, choices: ShapeChoices): StoredHeader {
  const stored = bytes === undefined ? {} : parse(bytes)
  if (typeof stored.format === 'number' && stored.format > indexFormat) {
    throw new PetalError(
      'UnsupportedFormat',
      `The index has format ${stored.format}; this version of petaldb knows formats up to ${indexFormat}`
    )
  }
  const storedHash = hashNames.find((name) => name === stored.hash)
  const storedSize = isSegmentSize(stored.segmentDocuments) ? stored.segmentDocuments : undefined
  const hash = choices.hash ?? storedHash ?? 'murmur'
  const segmentDocuments = choices.segmentDocuments ?? storedSize ?? defaultSegmentDocuments
  const fits =
    Number.isInteger(stored.format) &&
    (stored.format ?? 0) >= oldestFormat &&
    hash === storedHash &&
    segmentDocuments === storedSize &&
    Number.isInteger(stored.seedLo) &&
    Number.isInteger(stored.seedHi) &&
    stored.isDamaged === false
  return { shape: { hash, segmentDocuments }, header: fits ? (stored as IndexHeader) : undefined }
}

function parse(bytes: Uint8Array): Partial<IndexHeader> {
  try {
    return (JSON.parse(new TextDecoder().decode(bytes)) as Partial<IndexHeader> | null) ?? {}
  } catch {
    // Not JSON: whatever it is, it is no header of ours.
    return {}
  }
}
