/**
 * The time to open a store in a new process and to run each query for the first time, including everything that is
 * loaded or compiled on demand.
 */
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { QueryClass } from '../src/workload/query-classes.ts'
import type { ContenderName } from './contender.ts'
import type { ContenderHandlers } from './contender-process.ts'
import { connect } from './rpc.ts'
import { type Spread, spread } from './statistics.ts'

export type Process = ReturnType<typeof connect<ContenderHandlers>>

export interface ColdTimes {
  /** Milliseconds to open after a clean close, in a process that has loaded the library. */
  readonly open: ReadonlyMap<ContenderName, Spread>
  /** Milliseconds of the first run of each query, by query name. */
  readonly queries: ReadonlyMap<string, ReadonlyMap<ContenderName, Spread>>
  /** Resident bytes of the process after that. */
  readonly rssBytes: ReadonlyMap<ContenderName, Spread>
}

export const noColdTimes: ColdTimes = { open: new Map(), queries: new Map(), rssBytes: new Map() }

/** Number of new processes per contender. */
const rounds = 7
/** A contender that takes longer for a round has only one: a scan is hardly faster the second time. */
const longRoundMilliseconds = 5_000

/** The machine counts as quiet if its processors were idle for this share of `quietMilliseconds`. */
const quietShare = 0.9
const quietMilliseconds = 500
const maxWaitMilliseconds = 120_000

/** These lose everything when they are closed. */
const inMemory: readonly ContenderName[] = ['nedb', 'lokijs', 'mingo']

/**
 * Hands each store on disk from process to process. The last process replaces the entry in `processes`, for later
 * measurements.
 */
export async function measureCold(
  classes: readonly QueryClass[],
  processes: Map<ContenderName, Process>,
  progress: (message: string) => void
): Promise<ColdTimes> {
  const opening = new Map<ContenderName, number[]>()
  const memory = new Map<ContenderName, number[]>()
  const queries = new Map(classes.map(({ name }) => [name, new Map<ContenderName, number[]>()]))
  const taking = new Set([...processes.keys()].filter((name) => !inMemory.includes(name)))
  for (let round = 0; round < rounds; round++) {
    for (const name of taking) {
      progress(`opening ${name} in a new process, ${round + 1} of ${rounds}`)
      const child = await handOver(name, processes)
      const began = performance.now()
      append(opening, name, (await child.open()).milliseconds)
      for (const query of classes) append(queries.get(query.name)!, name, await child.time(query))
      append(memory, name, await child.rss())
      if (performance.now() - began > longRoundMilliseconds) taking.delete(name)
    }
  }
  return {
    open: spreads(opening),
    queries: new Map([...queries].map(([query, times]) => [query, spreads(times)])),
    rssBytes: spreads(memory)
  }
}

/**
 * Ends the process that has the store open, waits until the machine is quiet, and starts another one, which opens the
 * store at once, as programs do: after two seconds without work, opening takes twice as long on some virtual machines.
 */
async function handOver(name: ContenderName, processes: Map<ContenderName, Process>) {
  const before = processes.get(name)!
  const directory = await before.call('leave', undefined)
  await before.end()
  await untilQuiet()
  const child = connect<ContenderHandlers>(new URL('contender-process.ts', import.meta.url))
  processes.set(name, child)
  await child.call('prepare', name)
  return {
    open: () => child.call('open', { name, directory }),
    time: (query: QueryClass) => child.call('time', { query, milliseconds: 0 }),
    rss: () => child.call('rss', undefined)
  }
}

/** Waits, at most two minutes, for background work after loading, such as vacuuming and compaction. */
async function untilQuiet(): Promise<void> {
  const until = performance.now() + maxWaitMilliseconds
  do {
    const before = processorTimes()
    await sleep(quietMilliseconds)
    const after = processorTimes()
    if ((after.idle - before.idle) / (after.all - before.all) >= quietShare) return
  } while (performance.now() < until)
}

function processorTimes(): { idle: number; all: number } {
  let idle = 0
  let all = 0
  for (const { times } of cpus()) {
    idle += times.idle
    all += times.idle + times.user + times.nice + times.sys + times.irq
  }
  return { idle, all }
}

function append<K>(map: Map<K, number[]>, key: K, value: number): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}

function spreads(samples: ReadonlyMap<ContenderName, readonly number[]>): Map<ContenderName, Spread> {
  return new Map([...samples].map(([name, list]) => [name, spread(list)]))
}
