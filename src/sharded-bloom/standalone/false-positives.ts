/**
 * Predicts how many ids a structure finds in vain. See docs/sharded-bloom.md.
 *
 * A row is set at an id's position by the id's own n pairs, with d(n) = 1 − q^n, q = 1 − R/P; or by the T pairs of the
 * other ids there, with D = 1 − q^T. The id is found for a pair that nobody has when all R rows are set at all K
 * positions:
 *
 *     E (d + (1 − d) · D₁ ⋯ D_K)^R  =  Σ (R over j) · d^(R−j) · (1 − d)^j · E(D^j)^K
 *
 * With φ the generating function of the number of pairs of an id, and G that of the number of other ids at a position,
 * the moments are finite sums: E(q^(iT)) = G(φ(q^i)), so E(D^j) = Σ (j over i) · (−1)^i · G(φ(q^i)).
 */
import type { Occupancy } from './ids/id-codec.ts'

/** Number of ids by their number of pairs. */
export type PairCounts = ReadonlyMap<number, number>

export interface Shape {
  /** P; P·2^f for the fingerprint tail. */
  readonly virtualShards: number
  /** R ≤ P */
  readonly rowsPerPair: number
  /** K */
  readonly bitsPerId: number
}

/** Returns the average number of ids found for a pair that no id has. */
export function expectedFalsePositives(counts: PairCounts, shape: Shape, occupancy: Occupancy): number {
  const ids = sumOver(counts, () => 1)
  if (ids === 0) return 0
  const { rowsPerPair, virtualShards, bitsPerId } = shape
  const free = 1 - rowsPerPair / virtualShards
  const phi = Array.from({ length: rowsPerPair + 1 }, (_, i) => sumOver(counts, (pairs) => free ** (i * pairs)) / ids)
  const member = moments(phi.map(occupancy.othersOfMember))
  const members = sumOver(counts, (pairs) => foundOnce(free ** pairs, member, bitsPerId))
  // A stranger has no pairs of its own.
  const stranger = moments(phi.map(occupancy.othersOfStranger))
  return members + occupancy.strangers * stranger[rowsPerPair]! ** bitsPerId
}

/** @param unset 1 − d */
function foundOnce(unset: number, moments: readonly number[], bitsPerId: number): number {
  const rows = moments.length - 1
  let found = 0
  let combinations = 1
  for (let j = 0; j <= rows; j++) {
    found += combinations * (1 - unset) ** (rows - j) * unset ** j * moments[j]! ** bitsPerId
    combinations = (combinations * (rows - j)) / (j + 1)
  }
  return found
}

/** E(D^j) for j = 0… from E(q^(iT)) for i = 0…; below 1e-13 or so the sums cancel out. */
function moments(powers: readonly number[]): number[] {
  return powers.map((_, j) => {
    let moment = 0
    let combinations = 1
    for (let i = 0; i <= j; i++) {
      moment += combinations * powers[i]! * (i % 2 === 0 ? 1 : -1)
      combinations = (combinations * (j - i)) / (i + 1)
    }
    return Math.min(1, Math.max(0, moment))
  })
}

function sumOver(counts: PairCounts, value: (pairs: number) => number): number {
  let sum = 0
  for (const [pairs, ids] of counts) sum += ids * value(pairs)
  return sum
}
