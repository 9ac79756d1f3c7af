/** Times queries with the index and without it, and compares what both find. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Collection, Document, FindCursor, FindOptions } from '../index.ts'
import type { Query, QueryClass } from '../workload/index.ts'

export interface QueryTimes {
  readonly name: string
  readonly title: string
  readonly hits: number
  /** The first run after the database was opened; others came before it. */
  readonly firstMilliseconds: number
  /** Median once it has been asked often. */
  readonly warmMilliseconds: number
  /** Median of the same without the index. */
  readonly scanMilliseconds: number
  /** The scan finds the same documents, equal in everything. */
  readonly isSame: boolean
}

export interface QueryTiming {
  /** Timings of each query of which the median counts; fewer of one that takes long. */
  readonly rounds: number
  readonly signal: AbortSignal
  onProgress(queries: number): void
}

/** Quick queries are run for this long at a time, of which the mean counts: the clock tells no less apart. */
const roundMilliseconds = 20
/** No further round is begun after that. */
const warmLimitMilliseconds = 1000
const scanLimitMilliseconds = 500

const scanning: FindOptions = { hint: 'scan' }
/** For queries without a sort: their documents may come in any order. */
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
  // All of them first: a query that is run often leaves compiled code and cached blocks to the next one.
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
    // As long again as it is timed, for nothing.
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

/** Reads all documents, one after the other, so that memory is bounded however many there are. */
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
    // A query that is answered out of memory leaves no turn to signals and progress.
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

/** Whether both give equal documents in the same order. */
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
