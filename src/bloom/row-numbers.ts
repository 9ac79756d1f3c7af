/**
 * Maps a 64-bit hash to the r rows (or filter bits) of a pair.
 *
 * The P rows are divided into r strata of ⌊P/r⌋ or ⌈P/r⌉ rows, and a linear congruential generator, whose increment is
 * the hash's high half and whose start is its low half, picks one row in each with the high bits of its state.
 *
 * Why not row i = (a + i·b) mod P (Kirsch and Mitzenmacher 2006): a and b take only P² values, so at P of a few
 * hundred two pairs share all their rows far too often, which puts a floor of about 4·pairs/P² under the
 * false-positive rate. Here all 64 bits contribute whatever P is.
 *
 * Invariants:
 * 1. The rows of a pair ascend, and are distinct if there are at least as many rows as requested: no bit of a document
 *    is set twice by one pair, and each row is set with probability r/P.
 * 2. Row numbers are part of the file format.
 *
 * @see Steele and Vigna, Computationally easy, spectrally good multipliers, 2021, for the multiplier
 */

const MULTIPLIER = 0x915f77f5

/** The generator's next state, an int32; its high bits are the most random. */
export function nextProbe(state: number, hi: number): number {
  return (Math.imul(state, MULTIPLIER) + hi) | 0
}

/** Maps a state to a number in [0, width); width ≤ 2^31. */
export function reduce(state: number, width: number): number {
  return ((state >>> 0) * width * 2 ** -32) | 0
}

/**
 * Writes the row numbers of a pair, each in [0, shards).
 * @param lo low half of the pair's hash, as left by `PairHasher`; `hi` the high half
 * @param shards P, at least 1
 * @param count r, rows per pair
 * @param out receives `count` numbers from index 0
 * @example
 * const rows = new Int32Array(8)
 * hasher.hashString(seed.lo, seed.hi, Type.string, 'en')
 * rowNumbers(hasher.lo, hasher.hi, 3072, 8, rows)
 */
export function rowNumbers(lo: number, hi: number, shards: number, count: number, out: Int32Array | Uint16Array): void {
  let state = lo
  if (shards < count) {
    for (let i = 0; i < count; i++) {
      state = nextProbe(state, hi)
      out[i] = reduce(state, shards)
    }
    return
  }
  const width = Math.floor(shards / count)
  // The last strata take the remainder, one row each.
  const firstWider = count - (shards - width * count)
  let first = 0
  for (let i = 0; i < count; i++) {
    state = nextProbe(state, hi)
    const stratum = i < firstWider ? width : width + 1
    out[i] = first + reduce(state, stratum)
    first += stratum
  }
}
