/** The queries of bench/rebuild.ts, and how they are measured. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../src/index.ts'
import type { Document } from '../src/model/types.ts'
import { Census, generateTweets, type QueryClass, type QueryClassName, queryClassesOf } from '../src/workload/index.ts'
import { type Quantiles, quantiles, threadProcessorTime } from './loop-meter.ts'

const names: readonly QueryClassName[] = ['unique', 'hundred', 'one-percent', 'and-three', 'range-time', 'absent']
const untimedRounds = 64
/** Processor time spent untimed: for short queries, 50 runs are too few for the compiler. */
const untimedMilliseconds = 300
const sampleMilliseconds = 3

/** Milliseconds by the clock for each query. */
export type Latencies = ReadonlyMap<string, Quantiles>
/** Milliseconds, by the clock and of this thread's processor time. */
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

/**
 * Whether an absent value is found in the upper level depends on the index's random seed, and whether a value has a
 * private row in a segment on chance and on the order of documents: one value says nothing.
 */
const absentValues = 64
const values = 8

export function queriesFor(count: number): RebuildQueries {
  const census = new Census({ count })
  for (const tweet of generateTweets({ count })) census.add(tweet)
  const ranks = Array.from({ length: values }, (_, rank) => queryClassesOf(census, rank))
  return ranks[0]!
    .filter(({ name }) => names.includes(name))
    .map(({ name, title, filter }) => ({
      name,
      title,
      filters: name === 'absent' ? absentLike(filter) : filtersOf(ranks, name)
    }))
}

function filtersOf(ranks: readonly QueryClass[][], name: QueryClassName): Document[] {
  return ranks.map((classes) => classes.find((each) => each.name === name)!.filter)
}

/** @param filter for a text on one path */
function absentLike(filter: Document): Document[] {
  const [[path, value] = []] = Object.entries(filter)
  return Array.from({ length: absentValues }, (_, i) => ({ [String(path)]: `${String(value)}?${i}` }))
}

/** Runs one query at a time until `isOver` returns true. */
export async function measure(
  db: Database,
  queries: RebuildQueries,
  isOver: (round: number) => boolean
): Promise<Latencies> {
  const samples = new Map<string, number[]>(names.map((name) => [name, []]))
  for (let round = 0; !isOver(round); round++) {
    for (const { name, filters } of queries) {
      const filter = filters[round % filters.length]
      const started = performance.now()
      await db.find(filter).toArray()
      samples.get(name)!.push(performance.now() - started)
    }
    await sleep(1)
  }
  return new Map([...samples].map(([name, clock]) => [name, quantiles(clock)]))
}

const processorTime = threadProcessorTime ?? ((): number => performance.now())

/**
 * Reading the processor's clock takes as long as a short query: those are repeated for some milliseconds between two
 * readings, after as many runs for nothing, because another process had the processor's caches.
 */
export async function costOf(db: Database, { filters }: RebuildQuery): Promise<Cost> {
  const began = performance.now()
  let times = 0
  while (times % filters.length !== 0 || performance.now() - began < sampleMilliseconds)
    await db.find(filters[times++ % filters.length]).toArray()
  const [clock, processor] = [performance.now(), processorTime()]
  for (let time = 0; time < times; time++) await db.find(filters[time % filters.length]).toArray()
  return { clock: (performance.now() - clock) / times, processor: (processorTime() - processor) / times }
}

/** Runs each query untimed, at least 64 times and for 300 ms, so that compilation is not measured. */
export async function warmUp(db: Database, queries: RebuildQueries): Promise<void> {
  for (const { filters } of queries) {
    const begin = processorTime()
    for (let round = 0; round < untimedRounds || processorTime() - begin < untimedMilliseconds; round++) {
      await db.find(filters[round % filters.length]).toArray()
    }
  }
}
