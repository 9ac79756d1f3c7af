/** Measures false positives: queries pairs that no id has and counts the ids found. */
import type { BitSet } from '../../bloom/bit-set.ts'
import type { PairHasher } from '../../bloom/hash.ts'
import { PetalError } from '../../model/errors.ts'
import type { IdCodec } from './ids/id-codec.ts'
import type { Id } from './options.ts'
import { seedHalves } from './seed.ts'

/** Hash tag that keeps random hashes apart from those of pairs and ids. */
const PROBE = 34

/** Returns a hash that no pair has, save by a 64-bit collision. */
export function absentPair(
  hasher: PairHasher,
  seed: number,
  probe: number
): { readonly lo: number; readonly hi: number } {
  const { lo, hi } = seedHalves(seed)
  hasher.hashNumber(lo, hi, PROBE, probe)
  return { lo: hasher.lo, hi: hasher.hi }
}

/**
 * Ids found per probe; undefined without probes, and when the codec needs the ids but was given none.
 * @param ask returns the positions at which a probe is found
 * @throws PetalError BadValue unless `probes` is an integer ≥ 0
 */
export function observeFalsePositives(
  probes: number,
  ask: (probe: number) => BitSet,
  codec: IdCodec,
  bitsPerId: number,
  ids: Iterable<Id> | undefined
): number | undefined {
  if (!Number.isSafeInteger(probes) || probes < 0) {
    throw new PetalError('BadValue', `probes: expected an integer ≥ 0, got ${probes}`)
  }
  if (probes === 0) return undefined
  const positions = ids === undefined ? undefined : positionsOfAll(ids, codec, bitsPerId)
  let found = 0
  for (let probe = 0; probe < probes; probe++) {
    const upper = ask(probe)
    if (positions !== undefined) found += countFound(positions, bitsPerId, upper)
    else {
      const recovered = codec.recover(upper)
      if (recovered === undefined) return undefined
      found += recovered.length
    }
  }
  return found / probes
}

function positionsOfAll(ids: Iterable<Id>, codec: IdCodec, bitsPerId: number): Uint32Array {
  const one = new Uint32Array(bitsPerId)
  const all: number[] = []
  for (const id of ids) {
    if (!codec.positionsOf(id, one)) continue
    for (const position of one) all.push(position)
  }
  return Uint32Array.from(all)
}

function countFound(positions: Uint32Array, bitsPerId: number, upper: BitSet): number {
  let found = 0
  for (let first = 0; first < positions.length; first += bitsPerId) {
    let isFound = true
    for (let k = 0; k < bitsPerId && isFound; k++) isFound = upper.get(positions[first + k]!)
    if (isFound) found++
  }
  return found
}
