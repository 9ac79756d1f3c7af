/**
 * What stands behind the hash of a pair: the positions of the ids that may have it. Two implementations.
 *
 * | tail | keeps | a pair is found at a position when |
 * | --- | --- | --- |
 * | `bloom` | P filters of M bits | its R filters have the bit |
 * | `fingerprint` | P buckets of fingerprints with positions | its bucket has its fingerprint with that position |
 *
 * Invariants:
 * 1. A pair that was added at positions, and not removed there as often, is found at all of them: "maybe" is never lost.
 * 2. Nothing at or beyond position M is ever found.
 */
import type { BitSet } from '../../../bloom/bit-set.ts'
import type { Parameters } from '../options.ts'
import { BloomTail } from './bloom-tail.ts'
import { FingerprintTail } from './fingerprint-tail.ts'

export interface Tail {
  /** Puts a pair, by its hash, at K positions. */
  add(lo: number, hi: number, positions: Uint32Array): void
  /**
   * Takes back one add. REQUIRES: counting.
   * @returns false, and changes nothing, when there was none
   */
  remove(lo: number, hi: number, positions: Uint32Array): boolean
  /** False only when the pair was not added at all of these positions. */
  mayContain(lo: number, hi: number, positions: Uint32Array): boolean
  /** out = the positions at which the pair is found. */
  read(lo: number, hi: number, out: BitSet): void
  /** Rows that a pair is spread over, as the prediction of false positives sees them: a fingerprint is one of P·2^f. */
  readonly virtualShards: number
  /** Share of set bits in those rows. */
  density(): number
  /** Memory in use. */
  readonly byteLength: number
  toBytes(): Uint8Array
  /**
   * Takes in what toBytes() of an equal tail wrote. REQUIRES: nothing was added yet.
   * @throws PetalError DataCorruption
   */
  load(bytes: Uint8Array): void
}

export function createTail(parameters: Parameters): Tail {
  return parameters.tail === 'bloom' ? new BloomTail(parameters) : new FingerprintTail(parameters)
}
