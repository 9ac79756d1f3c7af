/** The queries of bench/rebuild.ts, and how they are measured. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../src/index.ts'
import type { Document } from '../src/model/types.ts'
import { type QueryClassName, queryClasses } from '../src/workload/index.ts'
import { type Quantiles, quantiles, threadProcessorTime } from './loop-meter.ts'

const names: readonly QueryClassName[] = ['unique', 'hundred', 'one-percent', 'and-three', 'range-time', 'absent']
const untimedRounds = 50
/** Processor time spent untimed: for short queries, 50 runs are too few for the compiler. */
const untimedMilliseconds = 300
const sampleMilliseconds = 1
const processorRounds = 60

/** Milliseconds by the clock for each query. */
export type Latencies = ReadonlyMap<string, Quantiles>
export type Samples = ReadonlyMap<string, number[]>
/** Medians of milliseconds, by the clock and of this thread's processor time. */
export interface Cost {
  readonly clock: number
  readonly processor: number
}

export interface RebuildQuery {
  readonly name: QueryClassName
  readonly title: string
  /** Asked in turn. */
  readonly filters: readonly Document[]
}

export type RebuildQueries = readonly RebuildQuery[]

/** Whether an absent value is found in the upper level depends on the index's random seed: that of one says nothing. */
const absentValues = 64

export function queriesFor(count: number): RebuildQueries {
  return queryClasses({ count })
    .filter(({ name }) => names.includes(name))
    .map(({ name, title, filter }) => ({ name, title, filters: name === 'absent' ? variantsOf(filter) : [filter] }))
}

/** @param filter for a text on one path */
function variantsOf(filter: Document): Document[] {
  const [[path, value] = []] = Object.entries(filter)
  return Array.from({ length: absentValues }, (_, i) => ({ [String(path)]: `${String(value)}?${i}` }))
}

export const noSamples = (): Samples => new Map(names.map((name) => [name, []]))

export const latenciesOf = (samples: Samples): Latencies =>
  new Map([...samples].map(([name, clock]) => [name, quantiles(clock)]))

/** Runs one query at a time, adding to `samples`, until `isOver` returns true. */
export async function measure(
  db: Database,
  queries: RebuildQueries,
  isOver: (round: number) => boolean,
  samples: Samples
): Promise<void> {
  for (let round = 0; !isOver(round); round++) {
    for (const { name, filters } of queries) {
      const filter = filters[round % filters.length]
      const started = performance.now()
      await db.find(filter).toArray()
      samples.get(name)!.push(performance.now() - started)
    }
    await sleep(1)
  }
}

const processorTime = threadProcessorTime ?? ((): number => performance.now())

/**
 * Reading the processor's clock takes as long as a short query: those are repeated for a millisecond between two
 * readings.
 */
export async function costsOf(db: Database, queries: RebuildQueries): Promise<ReadonlyMap<string, Cost>> {
  const samples = noSamples()
  await measure(db, queries, (round) => round === processorRounds, samples)
  const costs = new Map<string, Cost>()
  for (const { name, filters } of queries) {
    const clock = quantiles(samples.get(name)!).p50
    const times = Math.max(1, Math.ceil(sampleMilliseconds / clock))
    const processor: number[] = []
    for (let round = 0; round < processorRounds; round++) {
      await db.find(filters[0]).toArray()
      const before = processorTime()
      for (let time = 0; time < times; time++) await db.find(filters[time % filters.length]).toArray()
      processor.push((processorTime() - before) / times)
      await sleep(1)
    }
    costs.set(name, { clock, processor: quantiles(processor).p50 })
  }
  return costs
}

/** Runs each query untimed, at least 50 times and for 300 ms, so that compilation is not measured. */
export async function warmUp(db: Database, queries: RebuildQueries): Promise<void> {
  for (const { filters } of queries) {
    const begin = processorTime()
    for (let round = 0; round < untimedRounds || processorTime() - begin < untimedMilliseconds; round++) {
      await db.find(filters[round % filters.length]).toArray()
    }
  }
}
