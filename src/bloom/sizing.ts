/**
 * How many bits, how many hashes, how many rows: the arithmetic of Bloom filters. Pure functions.
 *
 * Two models, and the caller has to know which one holds:
 * - a *filter* of m bits: k probes anywhere in it (Bloom 1970);
 * - *shard rows*: a document's column of P bits, in which a pair sets r different bits, one in each stratum
 *   (row-numbers.ts). Its density is exact, not an approximation for large P.
 */

const LN2 = Math.LN2

/**
 * Number of bits for a filter that holds n keys at the given false-positive rate with the optimal number of hashes.
 * @param keys n, ≥ 0
 * @param falsePositiveRate in (0, 1)
 * @returns m = −n · ln p / (ln 2)², rounded up
 * @see Bloom, Space/time trade-offs in hash coding with allowable errors, 1970
 * @example optimalBits(1000, 0.01) // 9586
 */
export function optimalBits(keys: number, falsePositiveRate: number): number {
  return Math.ceil((-keys * Math.log(falsePositiveRate)) / (LN2 * LN2))
}

/**
 * Hashes per key that minimize the false-positive rate: those that set half of the bits.
 * @returns k = bits/key · ln 2, rounded, at least 1
 * @see Bloom 1970; Kirsch and Mitzenmacher, Less hashing, same performance, 2006, for deriving them from one hash
 * @example optimalHashes(10) // 7
 */
export function optimalHashes(bitsPerKey: number): number {
  return Math.max(1, Math.round(bitsPerKey * LN2))
}

/**
 * The classic estimate for a filter, (1 − e^(−k·n/m))^k. Slightly low for small m.
 * @see Bloom 1970; Bose et al., On the false-positive rate of Bloom filters, 2008, for how low
 * @example falsePositiveRate(9586, 7, 1000) // 0.01
 */
export function falsePositiveRate(bits: number, hashes: number, keys: number): number {
  return (-Math.expm1((-hashes * keys) / bits)) ** hashes
}

/**
 * An upper bound on the rate of a filter of any size, (1 − e^(−k·(n + ½)/(m − 1)))^k: safe to promise.
 * @param bits m > 1
 * @see Goel and Gupta, Small subset queries and Bloom filters using ternary associative memories, 2010
 */
export function falsePositiveRateBound(bits: number, hashes: number, keys: number): number {
  return (-Math.expm1((-hashes * (keys + 0.5)) / (bits - 1))) ** hashes
}

/**
 * Expected share of set bits in a filter, 1 − (1 − 1/m)^(k·n): exact for independent probes.
 * @example expectedFill(9586, 7, 1000) // 0.518
 */
export function expectedFill(bits: number, hashes: number, keys: number): number {
  return -Math.expm1(hashes * keys * Math.log1p(-1 / bits))
}

/**
 * The rate of a filter with known fill, fill^k: the actual rate of a built filter.
 * @param fill share of set bits, 0…1
 */
export function falsePositiveRateAtFill(fill: number, hashes: number): number {
  return fill ** hashes
}

/**
 * Estimates the number of keys in a filter from its fill: −m/k · ln(1 − fill). Infinity for a full one.
 * @see Swamidass and Baldi, Mathematical correction for fingerprint similarity measures, 2007
 */
export function estimatedKeys(bits: number, hashes: number, fill: number): number {
  return (-bits / hashes) * Math.log1p(-fill)
}

/**
 * Expected share of rows in which a document of n hashed pairs has its bit set: 1 − (1 − r/P)^n, because a pair sets r
 * different rows. With fewer rows than r, 1 − (1 − 1/P)^(r·n).
 * @param postings n, hashed pairs of the document
 * @param shards P; `rowsPerPair` r
 * @example densityOf(100, 2432, 8) // 0.281
 */
export function densityOf(postings: number, shards: number, rowsPerPair: number): number {
  if (postings <= 0) return 0
  if (shards < rowsPerPair) return -Math.expm1(rowsPerPair * postings * Math.log1p(-1 / shards))
  return -Math.expm1(postings * Math.log1p(-rowsPerPair / shards))
}

/**
 * Probability that a document of n hashed pairs is a candidate for one pair that it does not have: density^r.
 * @example rowFalsePositiveRate(100, 2432, 8) // 3.9e-5
 */
export function rowFalsePositiveRate(postings: number, shards: number, rowsPerPair: number): number {
  return densityOf(postings, shards, rowsPerPair) ** rowsPerPair
}

/** The distribution of postings: `histogram[n]` documents have n hashed pairs. */
export type PostingsHistogram = ArrayLike<number>

/** @param counts postings of each document */
export function histogramOf(counts: ArrayLike<number>): Uint32Array {
  let most = 0
  for (let i = 0; i < counts.length; i++) most = Math.max(most, counts[i]!)
  const histogram = new Uint32Array(most + 1)
  for (let i = 0; i < counts.length; i++) histogram[counts[i]!]!++
  return histogram
}

/** Share of set bits in the rows of documents with this distribution; 0 without documents. */
export function meanDensity(histogram: PostingsHistogram, shards: number, rowsPerPair: number): number {
  return meanOver(histogram, (postings) => densityOf(postings, shards, rowsPerPair))
}

/**
 * False positives per document and absent pair, over documents with this distribution. The mean of the rates is far
 * above the rate of the mean: a few documents with many pairs cause most of the false positives.
 */
export function meanRowFalsePositiveRate(histogram: PostingsHistogram, shards: number, rowsPerPair: number): number {
  return meanOver(histogram, (postings) => rowFalsePositiveRate(postings, shards, rowsPerPair))
}

export const MAX_SHARDS = 65_536

/**
 * The fewest rows, a multiple of 64, with which documents of this distribution stay at or below a false-positive rate.
 * @param targetRate false positives per document and absent pair, in (0, 1)
 * @returns P in 64…65,536; the maximum also if even that is not enough
 * @example
 * const histogram = new Float64Array(301)
 * histogram[100] = 900
 * histogram[300] = 100
 * shardsFor(histogram, 8, 1e-4) // 4416; 120 pairs each, the same mean, would need 2560
 */
export function shardsFor(histogram: PostingsHistogram, rowsPerPair: number, targetRate: number): number {
  let tooFew = 0
  let enough = MAX_SHARDS / 64
  while (enough - tooFew > 1) {
    const middle = (tooFew + enough) >>> 1
    if (meanRowFalsePositiveRate(histogram, middle * 64, rowsPerPair) <= targetRate) enough = middle
    else tooFew = middle
  }
  return enough * 64
}

function meanOver(histogram: PostingsHistogram, rate: (postings: number) => number): number {
  let documents = 0
  let sum = 0
  for (let postings = 0; postings < histogram.length; postings++) {
    const count = histogram[postings] ?? 0
    if (count === 0) continue
    documents += count
    sum += count * rate(postings)
  }
  return documents === 0 ? 0 : sum / documents
}
