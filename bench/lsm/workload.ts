/** Keys and values of the store benchmark, the same for every store and every run with the same seed. */
import { generateTweets } from '../../src/workload/tweets.ts'

export const valueBytes = 1_000
const poolSize = 20_000

/** Sixteen bytes that sort like the numbers. */
export function keyOf(number: number): Buffer {
  return Buffer.from(`key${String(number).padStart(13, '0')}`, 'latin1')
}

/** Tweets as JSON, each cut or padded to a kilobyte: as compressible as typical data. */
export function valuePool(seed: number): Buffer[] {
  return [...generateTweets({ count: poolSize, seed })].map((tweet) =>
    Buffer.from(JSON.stringify(tweet).padEnd(valueBytes).slice(0, valueBytes), 'latin1')
  )
}

/**
 * The i-th of the numbers below `count` in a scattered order that has each once: multiplies by a number that shares no
 * factor with `count`. Exact for counts below 100 million.
 */
export function shuffled(i: number, count: number): number {
  return (i * stride(count)) % count
}

const strides = new Map<number, number>()

function stride(count: number): number {
  let found = strides.get(count)
  if (found === undefined) {
    found = Math.floor(count * 0.618_033_988) | 1
    while (greatestCommonDivisor(found, count) !== 1) found += 2
    strides.set(count, found)
  }
  return found
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
