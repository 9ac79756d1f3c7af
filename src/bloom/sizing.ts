/**
 * How many hashes, how dense, how many false positives: the arithmetic of Bloom filters. Pure functions.
 *
 * Documents are columns of P bits in shard rows: a pair sets r different bits, one in each stratum (row-numbers.ts). The
 * density of a column is exact, not an approximation for large P.
 */

/**
 * Hashes per key that minimize the false-positive rate: those that set half of the bits.
 * @returns k = bits/key · ln 2, rounded, at least 1
 * @see Bloom 1970; Kirsch and Mitzenmacher, Less hashing, same performance, 2006, for deriving them from one hash
 * @example optimalHashes(10) // 7
 */
export function optimalHashes(bitsPerKey: number): number {
  return Math.max(1, Math.round(bitsPerKey * Math.LN2))
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

/**
 * The distribution of postings: `histogram[n]` documents have n hashed pairs.
 * @param counts postings of each document
 */
export function histogramOf(counts: ArrayLike<number>): Uint32Array {
  let most = 0
  for (let i = 0; i < counts.length; i++) most = Math.max(most, counts[i]!)
  const histogram = new Uint32Array(most + 1)
  for (let i = 0; i < counts.length; i++) histogram[counts[i]!]!++
  return histogram
}

/**
 * False positives per document and absent pair, over documents with this distribution. The mean of the rates is far
 * above the rate of the mean: a few documents with many pairs cause most of the false positives.
 */
export function meanRowFalsePositiveRate(histogram: ArrayLike<number>, shards: number, rowsPerPair: number): number {
  let documents = 0
  let sum = 0
  for (let postings = 0; postings < histogram.length; postings++) {
    const count = histogram[postings]!
    if (count === 0) continue
    documents += count
    sum += count * rowFalsePositiveRate(postings, shards, rowsPerPair)
  }
  return documents === 0 ? 0 : sum / documents
}
