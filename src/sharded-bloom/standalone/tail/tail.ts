/**
 * Maps the hash of a pair to the positions of the ids that may have it. Two implementations:
 *
 * | tail | keeps | a pair is found at a position when |
 * | --- | --- | --- |
 * | `bloom` | P filters of M bits | its R filters have the bit |
 * | `fingerprint` | P buckets of fingerprints with positions | its bucket has its fingerprint with that position |
 *
 * Invariants:
 * 1. A pair added at positions, and not removed as often, is found at all of them: there are no false negatives.
 * 2. Nothing at or beyond position M is ever found.
 */
import type { BitSet } from '../../../bloom/bit-set.ts'
import type { Parameters } from '../options.ts'
import { BloomTail } from './bloom-tail.ts'
import { FingerprintTail } from './fingerprint-tail.ts'

export interface Tail {
  /** Adds a pair, given by its hash, at K positions. */
  add(lo: number, hi: number, positions: Uint32Array): void
  /**
   * Reverts one add. REQUIRES: counting.
   * @returns false, and changes nothing, when the pair was not found at all positions
   */
  remove(lo: number, hi: number, positions: Uint32Array): boolean
  /** False only when the pair was not added at all of these positions. */
  mayContain(lo: number, hi: number, positions: Uint32Array): boolean
  /** Sets `out` to the positions at which the pair is found. */
  read(lo: number, hi: number, out: BitSet): void
  /** Number of rows as the prediction of false positives sees it: a fingerprint is one of P·2^f rows. */
  readonly virtualShards: number
  /** Share of set bits in those rows. */
  density(): number
  /** Memory in use, in bytes. */
  readonly byteLength: number
  toBytes(): Uint8Array
  /**
   * Restores the state that toBytes() of an equal tail wrote. REQUIRES: nothing was added yet.
   * @throws PetalError DataCorruption
   */
  load(bytes: Uint8Array): void
}

export function createTail(parameters: Parameters): Tail {
  return parameters.tail === 'bloom' ? new BloomTail(parameters) : new FingerprintTail(parameters)
}
