/**
 * The header of an index: format, hash, seed and segment size. Values that the caller does not choose stay as stored;
 * an index that does not fit the caller's choices is rebuilt.
 */
import { type HashName, hashNames } from '../../bloom/hash.ts'
import { PetalError } from '../../model/errors.ts'
import { defaultSegmentDocuments, isSegmentSize } from '../segment/geometry.ts'

export const indexFormat = 9
/** Oldest readable format. Records are written in the current format, the header first. */
const oldestFormat = 2

/** Choices fixed when an index is created; changing one rebuilds it. */
export interface IndexShape {
  readonly hash: HashName
  readonly segmentDocuments: number
}

export interface IndexHeader extends IndexShape {
  readonly format: number
  /** Random per index, so that nobody can craft documents whose pairs collide. */
  readonly seedLo: number
  readonly seedHi: number
  /** Damage was found while reading: the next open rebuilds the index. */
  readonly isDamaged: boolean
}

/** int32 halves of the 64-bit seed that every path is hashed with. */
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

/** The caller's choices; undefined where none was made. */
export type ShapeChoices = { readonly [K in keyof IndexShape]?: IndexShape[K] | undefined }

export interface StoredHeader {
  /** Shape of the index to open: chosen values, else stored ones, else the defaults. */
  readonly shape: IndexShape
  /** undefined when the index has to be rebuilt. */
  readonly header: IndexHeader | undefined
  /** Why the stored index cannot be used, if that is for damage. */
  readonly damage: string | undefined
}

/**
 * @param bytes undefined when there is no stored header
 * @throws PetalError UnsupportedFormat for an index of a later version, which is left unchanged
 */
export function decodeHeader(bytes: Uint8Array | undefined, choices: ShapeChoices): StoredHeader {
  const stored = bytes === undefined ? {} : parse(bytes)
  if (typeof stored.format === 'number' && stored.format > indexFormat) {
    throw new PetalError(
      'UnsupportedFormat',
      `The index has format ${stored.format}; this version of petaldb supports formats up to ${indexFormat}`
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
  return {
    shape: { hash, segmentDocuments },
    header: fits ? (stored as IndexHeader) : undefined,
    damage: stored.isDamaged === true ? 'Damage was found while the index was read' : undefined
  }
}

function parse(bytes: Uint8Array): Partial<IndexHeader> {
  try {
    return (JSON.parse(new TextDecoder().decode(bytes)) as Partial<IndexHeader> | null) ?? {}
  } catch {
    // Not JSON, hence not a header of ours.
    return {}
  }
}
