/**
 * How much do replaced documents slow down queries, and what does a rebuild of the index cost and gain? Of the tweets,
 * 30 % are replaced. Six classes of queries run in turn in a worn collection, in a rebuilt one, and in two fresh ones
 * with the same documents, and also during index.rebuild(), whose speed and delays of the event loop are measured too:
 * several times in another collection, of which a third is replaced before each, because a rebuild is over after some
 * 400 rounds of the queries, of which the slowest hundredth is four.
 *
 *     npm run build && node --import tsx bench/rebuild.ts [--count 200000 --output bench/results]
 *
 * Each query first runs untimed, at least 50 times and for 300 ms, so that compilation is not measured. Ratios are of
 * medians of this thread's processor time, if the system reports it, because other processes hardly lengthen that.
 * Reading that clock takes as long as a short query: those are repeated for a millisecond between two readings.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Database } from '../src/index.ts'
import type { Document } from '../src/model/types.ts'
import { generateTweets, type QueryClassName, queryClasses } from '../src/workload/index.ts'
import { openDatabase } from './contenders/petaldb-api.ts'
import { LoopMeter, type Quantiles, quantiles, threadProcessorTime } from './loop-meter.ts'
import { machine } from './machine.ts'
import { header, table } from './query-report.ts'

const { values: options } = parseArgs({
  options: { count: { type: 'string', default: '200000' }, output: { type: 'string' } }
})
const count = Number(options.count)
const untimedRounds = 50
/** Processor time spent untimed: for short queries, 50 runs are too few for the compiler. */
const untimedMilliseconds = 300
const rounds = 200
/** Rebuilds beside queries. */
const rebuilds = 6
const sampleMilliseconds = 1
const processorRounds = 60
const targets = { worn: 1.5, after: 1.1, duringP99: 2, documentsPerSecond: 80_000 }

const names: readonly QueryClassName[] = ['unique', 'hundred', 'one-percent', 'and-three', 'range-time', 'absent']
const queries = queryClasses({ count }).filter(({ name }) => names.includes(name))

/** Milliseconds by the clock for each query. */
type Latencies = ReadonlyMap<string, Quantiles>

const processorTime = threadProcessorTime ?? ((): number => performance.now())

type Samples = ReadonlyMap<string, number[]>

const noSamples = (): Samples => new Map(names.map((name) => [name, []]))

const latenciesOf = (samples: Samples): Latencies =>
  new Map([...samples].map(([name, clock]) => [name, quantiles(clock)]))

/** Runs one query at a time in each database in turn, adding to `samples`, until `isOver` returns true. */
async function measure(
  databases: readonly Database[],
  isOver: (round: number) => boolean,
  samples = databases.map(noSamples)
): Promise<Latencies[]> {
  for (let round = 0; !isOver(round); round++) {
    for (const { name, filter } of queries) {
      for (const i of inTurn(databases, round)) {
        const started = performance.now()
        await databases[i]!.find(filter).toArray()
        samples[i]!.get(name)!.push(performance.now() - started)
      }
    }
    await sleep(1)
  }
  return samples.map(latenciesOf)
}

/** Rotates the order, because the first database finds the processor's caches as the previous query left them. */
function inTurn(databases: readonly Database[], round: number): number[] {
  return databases.map((_, turn) => (round + turn) % databases.length)
}

/** @returns for each database, median milliseconds of processor time per query, by name */
async function processorTimes(
  databases: readonly Database[],
  latencies: readonly Latencies[]
): Promise<ReadonlyMap<string, number>[]> {
  const medians = databases.map(() => new Map<string, number>())
  for (const { name, filter } of queries) {
    const shortest = Math.min(...latencies.map((each) => each.get(name)!.p50))
    const times = Math.max(1, Math.ceil(sampleMilliseconds / shortest))
    const samples = databases.map(() => [] as number[])
    for (let round = 0; round < processorRounds; round++) {
      for (const i of inTurn(databases, round)) {
        const db = databases[i]!
        await db.find(filter).toArray()
        const before = processorTime()
        for (let time = 0; time < times; time++) await db.find(filter).toArray()
        samples[i]!.push((processorTime() - before) / times)
      }
      await sleep(1)
    }
    samples.forEach((each, i) => {
      medians[i]!.set(name, quantiles(each).p50)
    })
  }
  return medians
}

async function warmUp(databases: readonly Database[]): Promise<void> {
  for (const { filter } of queries) {
    for (const db of databases) {
      const begin = processorTime()
      for (let round = 0; round < untimedRounds || processorTime() - begin < untimedMilliseconds; round++) {
        await db.find(filter).toArray()
      }
    }
  }
}

/** Tweets whose number of followers ends in one of these digits are replaced. */
const replacedDigits = [1, 3, 7]

/** The documents that all collections have in the end, in the original order. */
function* replacedTweets(): Generator<Document> {
  for (const tweet of generateTweets({ count })) {
    const { followers_count: followers } = tweet.user as { followers_count: number }
    yield replacedDigits.includes(followers % 10) ? { ...tweet, seen: true } : tweet
  }
}

/** @returns the number of documents replaced */
async function replaceThird(db: Database, seen: unknown = true): Promise<number> {
  let replaced = 0
  for (const digit of replacedDigits) {
    const filter = { 'user.followers_count': { $mod: [10, digit] } }
    replaced += (await db.updateMany(filter, { $set: { seen } })).modifiedCount
  }
  return replaced
}

const directory = mkdtempSync(join(tmpdir(), 'petaldb-bench-rebuild-'))
const notes: string[] = []
const note = (text: string): void => {
  console.error(text)
  notes.push(`* ${text}`)
}
const verdict = (isMet: boolean): string => (isMet ? 'met' : 'NOT met')
const perSecond = ({ documents, milliseconds }: { documents: number; milliseconds: number }): number =>
  Math.round((documents / milliseconds) * 1000)

try {
  // Otherwise a rebuild starts automatically once documents are replaced.
  const openOne = (name: string): Promise<Database> => openDatabase(join(directory, name), { autoRebuild: false })
  await using freshDb = await openOne('fresh')
  await using wornDb = await openOne('worn')
  await using db = await openOne('rebuilt')
  await using orderedDb = await openOne('ordered')
  await using busyDb = await openOne('busy')
  for (const each of [wornDb, db, busyDb]) await each.insertMany(generateTweets({ count }))
  for (const each of [wornDb, db]) {
    const replaced = await replaceThird(each)
    if (each === db) note(`${replaced.toLocaleString('en')} of ${count.toLocaleString('en')} tweets were replaced`)
  }
  await freshDb.insertMany(replacedTweets())
  await orderedDb.insertMany(db.find())
  await warmUp([busyDb])
  const [calm, beside] = [noSamples(), noSamples()]
  const besideMeter = new LoopMeter()
  const rebuilt = { documents: 0, milliseconds: 0 }
  for (let time = 0; time < rebuilds; time++) {
    await replaceThird(busyDb, time)
    // Flushes and merges of what was replaced.
    await sleep(1000)
    await warmUp([busyDb])
    await measure([busyDb], (round) => round === 2 * rounds, [calm])
    let isOver = false
    besideMeter.resume()
    const rebuilding = busyDb.index.rebuild().finally(() => {
      isOver = true
    })
    const [, { documents, milliseconds }] = await Promise.all([measure([busyDb], () => isOver, [beside]), rebuilding])
    besideMeter.pause()
    rebuilt.documents += documents
    rebuilt.milliseconds += milliseconds
  }
  const [before, during] = [latenciesOf(calm), latenciesOf(beside)]
  await db.index.rebuild()
  const compared = [freshDb, wornDb, db, orderedDb]
  await warmUp(compared)
  const latencies = await measure(compared, (round) => round === rounds)
  const [fresh, worn, after, ordered] = await processorTimes(compared, latencies)

  const aloneMeter = new LoopMeter()
  aloneMeter.resume()
  const alone = await db.index.rebuild()
  aloneMeter.pause()
  const isFast = perSecond(alone) >= targets.documentsPerSecond
  note(
    `built again: ${perSecond(alone).toLocaleString('en')} documents/s alone (target ` +
      `${targets.documentsPerSecond.toLocaleString('en')}: ${verdict(isFast)}), ` +
      `${perSecond(rebuilt).toLocaleString('en')} beside queries without a pause`
  )
  for (const [when, { wait }] of [
    ['alone', aloneMeter.report()],
    ['beside queries', besideMeter.report()]
  ] as const) {
    note(`the event loop waited ${wait.p99.toFixed(1)} ms at p99 and ${wait.max.toFixed(1)} ms at worst, ${when}`)
  }
  const { dead, bytes } = await db.index.stats()
  note(`${dead} dead, ${Math.round(bytes.total / count)} bytes of index per document`)

  const rows = queries.map(({ name, title }) => {
    const processor = fresh!.get(name)!
    const ratio = (other: ReadonlyMap<string, number> | undefined): number => other!.get(name)! / processor
    const wornP99 = before.get(name)!.p99
    const slowdown = during.get(name)!.p99 / wornP99
    const isMet = ratio(worn) <= targets.worn && ratio(after) <= targets.after && slowdown < targets.duringP99
    return [
      title,
      latencies[0]!.get(name)!.p50.toFixed(3),
      processor.toFixed(4),
      ratio(worn).toFixed(2),
      ratio(after).toFixed(2),
      (after!.get(name)! / ordered!.get(name)!).toFixed(2),
      wornP99.toFixed(2),
      slowdown.toFixed(2),
      verdict(isMet)
    ]
  })
  const head = [
    'query',
    'fresh, ms',
    'of the processor',
    'worn ×',
    'after ×',
    'same order ×',
    'worn p99, ms',
    'during p99 ×',
    'target'
  ]
  const markdown = `# Queries before, during and after a rebuild

${header(machine(), `node --import tsx bench/rebuild.ts --count ${count}`)}

Whole documents returned. *Worn ×* and *after ×* are medians of processor time over those of the same documents inserted afresh in
the order they had before, at most ${targets.worn} and ${targets.after}. *Same order ×* is *after* over the same documents inserted afresh in the
order they have now: a replaced document goes to the end, and building the index again leaves it there, so that what lay
together lies in two places, or the other way round. *During p99 ×* is by the clock over the worn index's, below ${targets.duringP99}: of
${rebuilds} rebuilds, each after a third was replaced again, with ${calm.get(names[0]!)!.length} and ${beside.get(names[0]!)!.length} runs of each query.

${table(head, rows)}

${notes.join('\n')}
`
  console.log(markdown)
  if (options.output !== undefined) {
    mkdirSync(options.output, { recursive: true })
    writeFileSync(join(options.output, `rebuild-${count}.md`), markdown)
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
