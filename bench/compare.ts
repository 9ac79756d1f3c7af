/**
 * The comparison: every contender has a process of its own. They load one after the other and must agree on the answer
 * to every query. Every contender runs every query until it is warm; then rounds alternate between queries and
 * contenders, so that any disturbance of the machine affects all.
 */
import type { QueryClass } from '../src/workload/query-classes.ts'
import { type ColdTimes, measureCold, noColdTimes, type Process } from './cold.ts'
import type { Comparison, ContenderResult, QueryResult } from './comparison.ts'
import type { ContenderName } from './contender.ts'
import type { ContenderHandlers } from './contender-process.ts'
import { importPairs } from './import-pairs.ts'
import { machine } from './machine.ts'
import { repetitionsFor, warmUp } from './repetitions.ts'
import { connect } from './rpc.ts'
import { type Spread, spread } from './statistics.ts'

/** A repetition runs a fast query for this long and yields the mean. */
const repetitionMilliseconds = 20
/** How often each contender is closed and reopened by the same process. */
const reopenings = 5

export interface CompareOptions {
  readonly names: readonly ContenderName[]
  readonly classes: readonly QueryClass[]
  readonly count: number
  readonly seed: number
  /** Repetitions of a fast query; see repetitions.ts for others. */
  readonly rounds: number
  readonly importRounds: number
  /** Number of documents in the import comparison. */
  readonly importCount: number
  /** Also time each query once in new processes that have just opened the store. */
  readonly cold: boolean
}

export async function compare(options: CompareOptions): Promise<Comparison> {
  const { names, classes, count, seed, rounds } = options
  const processes = new Map<ContenderName, Process>()
  const contenders: ContenderResult[] = []
  const absent: { name: ContenderName; reason: string }[] = []
  for (const name of names) {
    progress(`loading ${name}`)
    const child = connect<ContenderHandlers>(new URL('contender-process.ts', import.meta.url))
    try {
      const load = await child.call('load', { name, count, seed })
      processes.set(name, child)
      contenders.push({ name, ...load })
    } catch (error) {
      absent.push({ name, reason: (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '' })
      await child.end()
    }
  }
  const { hits, disagreements } = await agree(classes, processes)
  const cold = options.cold ? await measureCold(classes, processes, progress) : noColdTimes
  const queries = await measure(classes, hits, processes, rounds, cold.queries)
  const finished: ContenderResult[] = []
  for (const contender of contenders) {
    const child = processes.get(contender.name)!
    const { rssBytes } = await child.call('memory', undefined)
    const openMilliseconds = cold.open.get(contender.name)
    const reopened: number[] = []
    while (openMilliseconds !== undefined && reopened.length < reopenings) {
      reopened.push((await child.call('reopen', contender.name)).milliseconds)
    }
    const { bytes, indexBytes } = await child.call('close', undefined)
    finished.push({
      ...contender,
      rssAfterQueriesBytes: rssBytes,
      rssAfterFirstQueriesBytes: cold.rssBytes.get(contender.name),
      disk: bytes,
      indexBytes: indexBytes?.total,
      indexRowBytes: indexBytes?.rows,
      openMilliseconds,
      reopenMilliseconds: reopened.length === 0 ? undefined : spread(reopened)
    })
    await child.end()
  }
  const pairs =
    processes.has('petaldb') && options.importRounds > 0
      ? await importPairs({ count: options.importCount, seed, rounds: options.importRounds, batch: 1_000, progress })
      : undefined
  return {
    machine: machine(),
    count,
    seed,
    rounds,
    contenders: finished,
    absent,
    queries,
    disagreements,
    imports: pairs
  }
}

/** Runs every query once on every contender, and compares the answers. */
async function agree(
  classes: readonly QueryClass[],
  processes: ReadonlyMap<ContenderName, Process>
): Promise<{ hits: Map<string, number>; disagreements: string[] }> {
  const hits = new Map<string, number>()
  const disagreements: string[] = []
  for (const query of classes) {
    progress(`checking ${query.title}`)
    let first: { name: string; hits: number; digest: string; ids: number[] } | undefined
    for (const [name, child] of processes) {
      const answer = await child.call('answer', query)
      first ??= { name, ...answer }
      if (answer.digest === first.digest) continue
      const expected = new Set(first.ids)
      const given = new Set(answer.ids)
      const extra = answer.ids.filter((id) => !expected.has(id)).slice(0, 3)
      const missing = first.ids.filter((id) => !given.has(id)).slice(0, 3)
      disagreements.push(
        `${query.name}: ${name} has ${answer.hits} documents, ${first.name} ${first.hits}; ` +
          `only ${name}: [${extra}], only ${first.name}: [${missing}]`
      )
    }
    hits.set(query.name, first?.hits ?? 0)
  }
  return { hits, disagreements }
}

/** A query on one contender. */
interface Timing {
  readonly query: string
  readonly name: ContenderName
  readonly time: () => Promise<number>
  readonly repetitions: number
  readonly samples: number[]
}

async function measure(
  classes: readonly QueryClass[],
  hits: ReadonlyMap<string, number>,
  processes: ReadonlyMap<ContenderName, Process>,
  rounds: number,
  cold: ColdTimes['queries']
): Promise<QueryResult[]> {
  const wanted: Timing[] = []
  for (const query of classes) {
    progress(`warming up ${query.title}`)
    for (const [name, child] of processes) {
      const time = (): Promise<number> => child.call('time', { query, milliseconds: repetitionMilliseconds })
      const repetitions = repetitionsFor(await warmUp(time), rounds)
      wanted.push({ query: query.name, name, time, repetitions, samples: [] })
    }
  }
  for (let round = 0; wanted.some(({ repetitions }) => round < repetitions); round++) {
    progress(`round ${round + 1}`)
    for (const { time, repetitions, samples } of wanted) if (round < repetitions) samples.push(await time())
  }
  const timesOf = (query: string): [ContenderName, Spread][] =>
    wanted.filter((timing) => timing.query === query).map(({ name, samples }) => [name, spread(samples)])
  return classes.map(({ name, title, filter, limit }) => ({
    name,
    title,
    filter,
    limited: limit !== undefined,
    hits: hits.get(name) ?? 0,
    milliseconds: Object.fromEntries(timesOf(name)),
    coldMilliseconds: Object.fromEntries(cold.get(name) ?? [])
  }))
}

export function progress(message: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${message}`)
  else console.error(message)
}
