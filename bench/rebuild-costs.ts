/** What the queries of bench/rebuild.ts cost in several collections, each in processes of its own. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { compiled } from './compiled.ts'
import type { Cost } from './rebuild-queries.ts'
import { type Spread, spread } from './statistics.ts'

/** Measurements of each query in each process. */
const rounds = 60
const program = new URL('rebuild-process.ts', import.meta.url)

/** What one query costs. */
export interface QueryCosts {
  /** Medians in the first collection. */
  readonly first: Cost
  /** Processor time in one collection over that in another, by their numbers: what several sets of processes measured. */
  ratio(of: number, to: number): Spread
}

/**
 * One process opens each collection. A query runs in all of them within milliseconds, and what counts is the median of
 * the ratios of such neighbours, because the speed of a machine shared with others changes by half within seconds. That
 * is repeated with new processes, because what one happens to compile decides how fast it is from then on.
 *
 * @param locations of the collections
 * @param queries number of queries
 * @param onSet called after each set of processes
 */
export async function compareCosts(
  locations: readonly string[],
  count: number,
  { queries, sets, onSet }: { queries: number; sets: number; onSet: (set: number) => void }
): Promise<QueryCosts[]> {
  const measured: Cost[][][][] = []
  for (let set = 0; set < sets; set++) {
    measured.push(await costsInSet(locations, count, queries))
    onSet(set)
  }
  return Array.from({ length: queries }, (_, query) => {
    const inSets = measured.map((costs) => costs[query]!)
    const first = inSets.flatMap((costs) => costs.map(([cost]) => cost!))
    return {
      first: { clock: median(first.map(({ clock }) => clock)), processor: median(first.map((cost) => cost.processor)) },
      ratio: (of, to) =>
        spread(inSets.map((costs) => median(costs.map((cost) => cost[of]!.processor / cost[to]!.processor))))
    }
  })
}

const median = (values: readonly number[]): number => spread(values).median

/** @returns for each query and round the cost in each collection */
async function costsInSet(locations: readonly string[], count: number, queries: number): Promise<Cost[][][]> {
  const processes: MeasuringProcess[] = []
  try {
    for (const location of locations) {
      const process = new MeasuringProcess(location, count)
      processes.push(process)
      await process.answer()
    }
    const costs: Cost[][][] = Array.from({ length: queries }, () => [])
    for (let round = 0; round < rounds; round++) {
      for (let query = 0; query < queries; query++) {
        const inRound: Cost[] = []
        for (let turn = 0; turn < processes.length; turn++) {
          const i = (round + turn) % processes.length
          processes[i]!.ask(query)
          inRound[i] = (await processes[i]!.answer()) as Cost
        }
        costs[query]!.push(inRound)
      }
    }
    return costs
  } finally {
    for (const process of processes) await process.end()
  }
}

class MeasuringProcess {
  readonly #child: ChildProcess
  readonly #ended = new AbortController()

  constructor(location: string, count: number) {
    this.#child = fork(compiled(program), [location, String(count)], { execArgv: [] })
    this.#child.once('exit', () => this.#ended.abort())
  }

  /** @param query its number */
  ask(query: number): void {
    this.#child.send(query)
  }

  /** @throws AbortError if the process ends before */
  async answer(): Promise<unknown> {
    const [answer] = await once(this.#child, 'message', { signal: this.#ended.signal })
    return answer
  }

  /** Resolves when the collection is closed, so that another process can open it. */
  async end(): Promise<void> {
    if (this.#ended.signal.aborted) return
    if (this.#child.connected) this.#child.disconnect()
    await once(this.#child, 'exit')
  }
}
