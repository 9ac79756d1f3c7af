/**
 * How much do replaced documents slow down queries, and what does a rebuild of the index cost and gain? Of the tweets,
 * 30 % are replaced. Six classes of queries run in a worn collection, in a rebuilt one, and in two fresh ones with the
 * same documents, each several times in processes of their own, in turn: what a process has compiled for one collection
 * would decide how fast it reads another. They also run during index.rebuild(), whose speed and delays of the event loop
 * are measured too: several times in one collection, of which a third is replaced before each, because a rebuild is
 * over after some 400 rounds of the queries, of which the slowest hundredth is four.
 *
 *     npm run build && node --import tsx bench/rebuild.ts [--count 200000 --output bench/results]
 *
 * Costs are medians of this thread's processor time, if the system reports it, because other processes hardly lengthen
 * that.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Database } from '../src/index.ts'
import type { Document } from '../src/model/types.ts'
import { generateTweets } from '../src/workload/index.ts'
import { openDatabase } from './contenders/petaldb-api.ts'
import { LoopMeter } from './loop-meter.ts'
import { machine } from './machine.ts'
import { header, table } from './query-report.ts'
import { compareCosts } from './rebuild-costs.ts'
import { type Latencies, measure, queriesFor, warmUp } from './rebuild-queries.ts'
import { type Spread, spread } from './statistics.ts'

const { values: options } = parseArgs({
  options: { count: { type: 'string', default: '200000' }, output: { type: 'string' } }
})
const count = Number(options.count)
/** Runs of each query before each rebuild. */
const calmRounds = 400
/** Rebuilds beside queries, and as many alone. */
const rebuilds = 6
/** Sets of processes, one for each collection. */
const sets = 7
const targets = { worn: 1.5, after: 1.1, duringP99: 2, documentsPerSecond: 80_000 }

const queries = queriesFor(count)

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
const ratioCell = ({ median, min, max }: Spread): string => `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`
const thousands = (value: number): string => Math.round(value).toLocaleString('en')
const verdict = (isMet: boolean): string => (isMet ? 'met' : 'NOT met')
const perSecond = ({ documents, milliseconds }: { documents: number; milliseconds: number }): number =>
  Math.round((documents / milliseconds) * 1000)

try {
  // Otherwise a rebuild starts automatically once documents are replaced.
  const openOne = (name: string): Promise<Database> => openDatabase(join(directory, name), { autoRebuild: false })
  {
    await using freshDb = await openOne('fresh')
    await using wornDb = await openOne('worn')
    await using rebuiltDb = await openOne('rebuilt')
    await using orderedDb = await openOne('ordered')
    for (const each of [wornDb, rebuiltDb]) await each.insertMany(generateTweets({ count }))
    for (const each of [wornDb, rebuiltDb]) {
      const replaced = await replaceThird(each)
      if (each === rebuiltDb) note(`${thousands(replaced)} of ${thousands(count)} tweets were replaced`)
    }
    await freshDb.insertMany(replacedTweets())
    await orderedDb.insertMany(rebuiltDb.find())
    await rebuiltDb.index.rebuild()
  }
  const costs = await compareCosts(
    ['fresh', 'worn', 'rebuilt', 'ordered'].map((name) => join(directory, name)),
    count,
    { queries: queries.length, sets, onSet: (set) => console.error(`${set + 1} of ${sets} sets of processes`) }
  )

  await using busyDb = await openOne('busy')
  await busyDb.insertMany(generateTweets({ count }))
  await warmUp(busyDb, queries)
  const [calm, beside]: [Latencies[], Latencies[]] = [[], []]
  const besideMeter = new LoopMeter()
  const rebuilt = { documents: 0, milliseconds: 0 }
  for (let time = 0; time < rebuilds; time++) {
    await replaceThird(busyDb, time)
    // Flushes and merges of what was replaced.
    await sleep(1000)
    await warmUp(busyDb, queries)
    calm.push(await measure(busyDb, queries, (round) => round === calmRounds))
    let isOver = false
    besideMeter.resume()
    const rebuilding = busyDb.index.rebuild().finally(() => {
      isOver = true
    })
    const asking = measure(busyDb, queries, () => isOver)
    const [latencies, { documents, milliseconds }] = await Promise.all([asking, rebuilding])
    besideMeter.pause()
    beside.push(latencies)
    rebuilt.documents += documents
    rebuilt.milliseconds += milliseconds
  }

  const aloneMeter = new LoopMeter()
  const speeds: number[] = []
  for (let time = 0; time < rebuilds; time++) {
    await replaceThird(busyDb, rebuilds + time)
    await sleep(1000)
    aloneMeter.resume()
    speeds.push(perSecond(await busyDb.index.rebuild()))
    aloneMeter.pause()
  }
  const alone = spread(speeds)
  note(
    `built again: ${thousands(alone.median)} (${thousands(alone.min)}–${thousands(alone.max)}) documents/s alone, ` +
      `${rebuilds} times (target ${thousands(targets.documentsPerSecond)}: ` +
      `${verdict(alone.median >= targets.documentsPerSecond)}), ` +
      `${thousands(perSecond(rebuilt))} beside queries without a pause`
  )
  for (const [when, { wait }] of [
    ['alone', aloneMeter.report()],
    ['beside queries', besideMeter.report()]
  ] as const) {
    note(`the event loop waited ${wait.p99.toFixed(1)} ms at p99 and ${wait.max.toFixed(1)} ms at worst, ${when}`)
  }
  const { dead, bytes } = await busyDb.index.stats()
  note(`${dead} dead, ${Math.round(bytes.total / count)} bytes of index per document`)

  const rows = queries.map(({ name, title }, query) => {
    const { first, ratio } = costs[query]!
    const [worn, after, sameOrder] = [ratio(1, 0), ratio(2, 0), ratio(2, 3)]
    const wornP99 = calm.map((latencies) => latencies.get(name)!.p99)
    const slowdown = spread(beside.map((latencies, time) => latencies.get(name)!.p99 / wornP99[time]!))
    const isMet = worn.median <= targets.worn && after.median <= targets.after && slowdown.median < targets.duringP99
    return [
      title,
      first.clock.toFixed(3),
      first.processor.toFixed(4),
      ratioCell(worn),
      ratioCell(after),
      ratioCell(sameOrder),
      spread(wornP99).median.toFixed(2),
      ratioCell(slowdown),
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

Whole documents returned. *Worn ×* and *after ×* are processor time over that of the same documents inserted afresh in
the order they had before, at most ${targets.worn} and ${targets.after}: a query runs in all collections within milliseconds, in a process for
each, and the medians of those ratios are given as median (least to most) of ${sets} sets of new processes. *Same order ×*
is *after* over the same documents inserted afresh in the order they have now: a replaced document goes to the end, and
building the index again leaves it there, so that what lay together lies in two places, or the other way round. Absent
values are 64 in turn, and others 8, because seed and order decide how an index holds each of them. *During
p99 ×* is by the clock, beside each of ${rebuilds} rebuilds over the ${calmRounds} runs before it, for which a third was replaced again, below ${targets.duringP99}.

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
