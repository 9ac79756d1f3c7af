/**
 * Which bins a column is cut into: pure policy.
 *
 * Bins hold about equally many documents. A value that many documents share gets a bin of its own, so that a range that
 * ends at it is exact; a column of few values is exact altogether.
 */

/** A code is one byte, and 0 stands for documents that are not in the column. */
export const maxBins = 255

/** A value in a hundredth of the documents has a bin of its own. */
const heavyShare = 1 / 100

/**
 * The greatest key of every bin but the last, which ends with the column.
 * @param sample keys, ascending
 * @returns at most 254 keys, ascending
 * @example
 * chooseEdges(Float64Array.of(1, 1, 2, 5)) // [1, 2, 5]
 */
export function chooseEdges(sample: Float64Array): number[] {
  const runs = runsOf(sample)
  const limit = maxBins - 1
  if (runs.length <= limit) return runs.map(({ key }) => key)
  const heavy = sample.length * heavyShare
  const heavyRuns = runs.filter(({ count }) => count >= heavy)
  const light = heavyRuns.reduce((rest, { count }) => rest - count, sample.length)
  // A heavy value may cut a bin short, and the last bin may be short: 2 for each and 1.
  const target = light / (limit - 1 - 2 * heavyRuns.length)
  const edges: number[] = []
  let filled = 0
  runs.forEach(({ key, count }, i) => {
    if (count >= heavy) {
      if (filled > 0) edges.push(runs[i - 1]!.key)
      filled = target
    } else filled += count
    if (filled < target) return
    edges.push(key)
    filled = 0
  })
  if (filled > 0) edges.push(runs.at(-1)!.key)
  return edges
}

/** Bits that tell the codes of `bins` bins, and 0, apart. */
export function bitsOfCodes(bins: number): number {
  return 32 - Math.clz32(bins)
}

interface Run {
  readonly key: number
  count: number
}

function runsOf(sample: Float64Array): Run[] {
  const runs: Run[] = []
  for (const key of sample) {
    const last = runs.at(-1)
    if (last?.key === key) last.count++
    else runs.push({ key, count: 1 })
  }
  return runs
}
