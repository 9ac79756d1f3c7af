/** How often a query is timed: the same rule for every contender, by the time of a warm query. */
import { spread } from './statistics.ts'

/** Default number of repetitions of a query that takes less than 50 ms. */
export const defaultRounds = 15
const quick = 50
const slow = 500

/**
 * @param milliseconds time of one warm run
 * @param rounds repetitions of a query under 50 ms; those under 500 ms have a third as many, others a fifth
 */
export function repetitionsFor(milliseconds: number, rounds: number): number {
  if (milliseconds < quick) return rounds
  return Math.ceil(milliseconds < slow ? rounds / 3 : rounds / 5)
}

/** Describes the rule, for the report. */
export function repetitionRule(rounds: number): string {
  const [few, fewest] = [repetitionsFor(quick, rounds), repetitionsFor(slow, rounds)]
  return `${rounds} repetitions where a query takes less than ${quick} ms, ${few} below ${slow} ms, ${fewest} above`
}

/** Minimum milliseconds: a just-in-time compiler needs hundreds of runs of a query of a tenth of a millisecond. */
const leastWarmUp = 1000
/** Maximum number of runs after that. */
const mostWarmUps = 20
/** A run that is faster than all previous ones by more than this share shows that the code is still warming up. */
const settled = 0.1
/** Required number of consecutive runs that are no faster; one is enough for a slower query. */
const calmRuns = 3

/**
 * Runs a query for a second, and then until it no longer gets faster.
 * @param run times one repetition, in milliseconds
 * @returns milliseconds of the fastest one
 */
export async function warmUp(run: () => Promise<number>): Promise<number> {
  const begin = performance.now()
  let fastest = await run()
  while (performance.now() - begin < leastWarmUp) fastest = Math.min(fastest, await run())
  for (let i = 1, calm = 0; i < mostWarmUps && calm < (fastest < quick ? calmRuns : 1); i++) {
    const milliseconds = await run()
    calm = milliseconds > fastest * (1 - settled) ? calm + 1 : 0
    fastest = Math.min(fastest, milliseconds)
  }
  return fastest
}

/** Median milliseconds of `times` runs, after one that does not count. */
export async function medianOf(times: number, run: () => unknown): Promise<number> {
  await run()
  const taken: number[] = []
  for (let i = 0; i < times; i++) {
    const begin = performance.now()
    await run()
    taken.push(performance.now() - begin)
  }
  return spread(taken).median
}
