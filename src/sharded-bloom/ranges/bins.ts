/**
 * Pure policy: how a column is divided into bins.
 *
 * Bins hold roughly equal numbers of documents. A value that many documents share gets a bin of its own, so that a
 * range that ends at it is exact; a column with few values is exact altogether.
 */

/** A code is one byte, and 0 stands for documents that are not in the column. */
export const maxBins = 255

/** A value in at least this share of the documents has a bin of its own. */
const heavyShare = 1 / 100

/**
 * Returns the greatest key of every bin except the last, which ends with the column.
 * @param sample keys, ascending
 * @returns at most 254 keys, ascending
 * @example
 * chooseEdges(Float64Array.of(1, 1, 2, 5)) // [1, 2, 5]
 */
export function chooseEdges(sample: Float64Array): number[] {
  const { keys, counts } = runsOf(sample)
  const limit = maxBins - 1
  if (keys.length <= limit) return keys
  const heavy = sample.length * heavyShare
  let light = sample.length
  let heavyRuns = 0
  for (let i = 0; i < counts.length; i++) {
    if (counts[i]! < heavy) continue
    light -= counts[i]!
    heavyRuns++
  }
  // A heavy value may cut a bin short, and the last bin may be short: subtract 2 for each heavy value and 1.
  const target = light / (limit - 1 - 2 * heavyRuns)
  const edges: number[] = []
  let filled = 0
  for (let i = 0; i < keys.length; i++) {
    const count = counts[i]!
    if (count >= heavy) {
      if (filled > 0) edges.push(keys[i - 1]!)
      filled = target
    } else filled += count
    if (filled < target) continue
    edges.push(keys[i]!)
    filled = 0
  }
  if (filled > 0) edges.push(keys.at(-1)!)
  return edges
}

/** Whether there are more values than bins: some key is not an edge. @param edges of chooseEdges() for the sample */
export function hasSharedBins(edges: readonly number[], sample: Float64Array): boolean {
  let edge = 0
  for (let i = 0; i < sample.length; i++) {
    if (edges[edge] !== sample[i]) edge++
    if (edges[edge] !== sample[i]) return true
  }
  return false
}

/** Number of bits for the codes of `bins` bins and 0. */
export function bitsOfCodes(bins: number): number {
  return 32 - Math.clz32(bins)
}

/** Returns the distinct keys and their numbers of occurrences. */
function runsOf(sample: Float64Array): { readonly keys: number[]; readonly counts: readonly number[] } {
  const keys: number[] = []
  const counts: number[] = []
  for (const key of sample) {
    if (keys.at(-1) === key) counts[counts.length - 1]!++
    else {
      keys.push(key)
      counts.push(1)
    }
  }
  return { keys, counts }
}
