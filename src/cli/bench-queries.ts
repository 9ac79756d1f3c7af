/** Times queries with and without the index, and compares their results. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Collection, Document, FindCursor, FindOptions } from '../index.ts'
import type { Query, QueryClass } from '../workload/index.ts'

export interface QueryTimes {
  readonly name: string
  readonly title: string
  readonly hits: number
  /** First run after the database was opened; other queries ran before it. */
  readonly firstMilliseconds: number
  /** Median of repeated runs. */
  readonly warmMilliseconds: number
  /** Median without the index. */
  readonly scanMilliseconds: number
  /** Whether the scan finds exactly equal documents. */
  readonly isSame: boolean
}

export interface QueryTiming {
  /** Number of timings per query, of which the median counts; fewer for slow queries. */
  readonly rounds: number
  readonly signal: AbortSignal
  onProgress(queries: number): void
}

/** Fast queries are repeated for this long per timing, of which the mean counts, because of the clock's resolution. */
const roundMilliseconds = 20
/** No further round starts after this time. */
const warmLimitMilliseconds = 1000
const scanLimitMilliseconds = 500

const scanning: FindOptions = { hint: 'scan' }
/** For queries without a sort, whose documents may come in any order. */
const inOneOrder: FindOptions = { sort: { $natural: 1 } }

/** REQUIRES: the collection has just been opened. @throws AbortedError */
export async function timeQueries(
  collection: Collection,
  queries: readonly QueryClass[],
  { rounds, signal, onProgress }: QueryTiming
): Promise<readonly QueryTimes[]> {
  const cursorOf = ({ filter, sort, limit }: Query, options: FindOptions = {}): FindCursor =>
    collection.find(filter, {
      ...options,
      signal,
      ...(sort !== undefined && { sort }),
      ...(limit !== undefined && { limit })
    })
  // All first runs come first, because repeated runs leave compiled code and cached blocks for the next query.
  const first: { readonly hits: number; readonly milliseconds: number }[] = []
  for (const query of queries) {
    const started = performance.now()
    const hits = await drain(cursorOf(query))
    first.push({ hits, milliseconds: performance.now() - started })
  }
  const times: QueryTimes[] = []
  for (const [i, query] of queries.entries()) {
    const { hits, milliseconds } = first[i]!
    const warm = { run: () => drain(cursorOf(query)), rounds, roundMilliseconds, limit: warmLimitMilliseconds }
    const scan = {
      run: () => drain(cursorOf(query, scanning)),
      rounds,
      roundMilliseconds: 0,
      limit: scanLimitMilliseconds
    }
    // Warm up for as long as the timing takes.
    await medianOf(warm)
    times.push({
      name: query.name,
      title: query.title,
      hits,
      firstMilliseconds: milliseconds,
      warmMilliseconds: await medianOf(warm),
      scanMilliseconds: await medianOf(scan),
      isSame: await areSame(cursorOf(query, inOneOrder), cursorOf(query, { ...scanning, ...inOneOrder }))
    })
    onProgress(times.length)
  }
  return times
}

/** Reads all documents one by one, in bounded memory. */
async function drain(documents: AsyncIterable<Document>): Promise<number> {
  let count = 0
  for await (const _ of documents) count++
  return count
}

interface Timing {
  run(): Promise<unknown>
  readonly rounds: number
  readonly roundMilliseconds: number
  readonly limit: number
}

async function medianOf({ run, rounds, roundMilliseconds, limit }: Timing): Promise<number> {
  const means: number[] = []
  const started = performance.now()
  do {
    // A query answered from memory never yields to signals and progress by itself.
    await nextTurn()
    const begin = performance.now()
    let runs = 0
    let elapsed: number
    do {
      await run()
      runs++
      elapsed = performance.now() - begin
    } while (elapsed < roundMilliseconds)
    means.push(elapsed / runs)
  } while (means.length < rounds && performance.now() - started < limit)
  means.sort((a, b) => a - b)
  return (means[(means.length - 1) >> 1]! + means[means.length >> 1]!) / 2
}

/** Whether both yield equal documents in the same order. */
export async function areSame(some: AsyncIterable<Document>, others: AsyncIterable<Document>): Promise<boolean> {
  const rest = others[Symbol.asyncIterator]()
  try {
    for await (const document of some) {
      const other = await rest.next()
      if (other.done === true || JSON.stringify(document) !== JSON.stringify(other.value)) return false
    }
    return (await rest.next()).done === true
  } finally {
    await rest.return?.()
  }
}
