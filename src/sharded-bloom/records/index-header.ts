/**
 * The index says what it is: format, hash, seed and segment size. One that does not fit is built again.
 */
import type { HashName } from '../../bloom/hash.ts'
import { PetalError } from '../../model/errors.ts'

export const indexFormat = 4
/** The oldest one that is read as it is; what is written then is of this format, header first. */
const oldestFormat = 2

export interface IndexHeader {
  readonly format: number
  readonly hash: HashName
  /** Random per index, so that nobody can craft documents whose pairs collide. */
  readonly seedLo: number
  readonly seedHi: number
  readonly segmentDocuments: number
  /** Damage was met while reading: the next open builds the index again. */
  readonly isDamaged: boolean
}

/** Halves of the 64 bits that every path is hashed with, int32. */
export interface IndexSeed {
  readonly lo: number
  readonly hi: number
}

export function createHeader(hash: HashName, segmentDocuments: number, seed = randomSeed()): IndexHeader {
  return { format: indexFormat, hash, seedLo: seed.lo, seedHi: seed.hi, segmentDocuments, isDamaged: false }
}

function randomSeed(): IndexSeed {
  const [lo, hi] = crypto.getRandomValues(new Int32Array(2)) as unknown as readonly [number, number]
  return { lo, hi }
}

export function encodeHeader(header: IndexHeader): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(header))
}

/**
 * The header if it is one and fits the options, else undefined: the index then has to be built again.
 * @throws PetalError UnsupportedFormat for an index of a later version, which is left as it is
 */
export function decodeHeader(bytes: Uint8Array, hash: HashName, segmentDocuments: number): IndexHeader | undefined {
  let header: Partial<IndexHeader>
  try {
    header = JSON.parse(new TextDecoder().decode(bytes)) as Partial<IndexHeader>
  } catch {
    // Not JSON: whatever it is, it is no header of ours.
    return undefined
  }
  if (typeof header.format === 'number' && header.format > indexFormat) {
    throw new PetalError(
      'UnsupportedFormat',
      `The index has format ${header.format}; this version of petaldb knows formats up to ${indexFormat}`
    )
  }
  const fits =
    Number.isInteger(header.format) &&
    (header.format ?? 0) >= oldestFormat &&
    header.hash === hash &&
    header.segmentDocuments === segmentDocuments &&
    Number.isInteger(header.seedLo) &&
    Number.isInteger(header.seedHi) &&
    header.isDamaged === false
  return fits ? (header as IndexHeader) : undefined
}
