/** Timing for micro-benchmarks: several rounds, interleaved, reported as a median with its spread. */
import { arch, cpus } from 'node:os'

export interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** The machine and the date: the first line of every benchmark. */
export function banner(): string {
  const date = new Date().toISOString().slice(0, 10)
  return `Node ${process.version}, ${process.platform} ${arch()}, ${cpus()[0]?.model ?? 'unknown processor'}, ${date}`
}

/**
 * Nanoseconds per operation of each contender. Contenders alternate in every round, so that a slow moment of the
 * machine affects all; the first two rounds are warm-ups and do not count.
 * @param contenders each performs its operation `operations` times
 * @param clock returns nanoseconds: wall time, or processor time where other processes must not count
 */
export function compare(
  contenders: Readonly<Record<string, (operations: number) => unknown>>,
  operations: number,
  rounds = 11,
  clock: () => number = wallClock
): Map<string, Spread> {
  const times = new Map<string, number[]>(Object.keys(contenders).map((name) => [name, []]))
  for (let round = -2; round < rounds; round++) {
    for (const [name, run] of Object.entries(contenders)) {
      const start = clock()
      sink(run(operations))
      const elapsed = clock() - start
      if (round >= 0) times.get(name)?.push(elapsed / operations)
    }
  }
  return new Map([...times].map(([name, list]) => [name, spreadOf(list)]))
}

function wallClock(): number {
  return performance.now() * 1e6
}

/** Processor time of all threads of this process, in nanoseconds. */
export function processorClock(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

/** The median, with the quartiles as low and high. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN
  return { median: at(0.5), low: at(0.25), high: at(0.75) }
}

let kept: unknown

/** Keeps a result, so that computing it cannot be optimised away. */
function sink(value: unknown): void {
  kept = value
  if (kept === sink) console.log(kept)
}
