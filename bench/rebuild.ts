/**
 * What does building an index again cost, and bring? Tweets, 30 % of which are replaced: median and p99 of three queries
 * before, during and after index.rebuild(), how long the event loop waited meanwhile, and documents per second.
 *
 * Run: node --import tsx bench/rebuild.ts [--count 200000]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Database, open } from '../src/index.ts'
import { generateTweets } from '../src/workload/index.ts'
import { machine, machineLine } from './machine.ts'

const { values: options } = parseArgs({ options: { count: { type: 'string', default: '200000' } } })
const count = Number(options.count)
/** Enough for a p99. */
const rounds = 200
/** Milliseconds between looks at the event loop. */
const resolution = 1
const milliseconds = (value: number): string => `${value.toFixed(2)} ms`

const queries: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  unique: { id_str: [...generateTweets({ count: 100 })].at(-1)!.id_str },
  'AND of three': { lang: 'en', 'user.verified': true, 'entities.hashtags.text': 'news' },
  absent: { 'user.screen_name': 'nobody at all' }
}

interface Latency {
  readonly median: number
  readonly p99: number
}

/** One query at a time, until there are enough rounds and `isOver` says so. */
async function latencies(db: Database, isOver: () => boolean): Promise<ReadonlyMap<string, Latency>> {
  const samples = new Map(Object.keys(queries).map((name) => [name, [] as number[]]))
  for (let round = 0; round < rounds || !isOver(); round++) {
    for (const [name, filter] of Object.entries(queries)) {
      const started = performance.now()
      await db.find(filter, { limit: 20 }).toArray()
      samples.get(name)!.push(performance.now() - started)
    }
    await sleep(1)
  }
  return new Map([...samples].map(([name, list]) => [name, latencyOf(list)]))
}

function latencyOf(samples: number[]): Latency {
  samples.sort((a, b) => a - b)
  const at = (share: number): number => samples[Math.min(samples.length - 1, Math.floor(samples.length * share))]!
  return { median: at(0.5), p99: at(0.99) }
}

/** Milliseconds that the event loop waited, the timer's own one left out. */
function waits(histogram: IntervalHistogram): { readonly max: number; readonly percentile: number } {
  const beyond = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolution)
  return { max: beyond(histogram.max), percentile: beyond(histogram.percentile(99)) }
}

function report(when: string, found: ReadonlyMap<string, Latency>): void {
  for (const [name, { median, p99 }] of found) {
    console.log(`${when.padEnd(8)} ${name.padEnd(14)} median ${milliseconds(median)}  p99 ${milliseconds(p99)}`)
  }
}

console.log(machineLine(machine()))
const directory = mkdtempSync(join(tmpdir(), 'petaldb-bench-rebuild-'))
try {
  await using db = await open(directory)
  await db.insertMany(generateTweets({ count }))
  report('fresh', await latencies(db, () => true))
  const replaced = await db.updateMany({ 'user.followers_count': { $mod: [10, 3] } }, { $set: { seen: true } })
  const others = await db.updateMany({ 'user.followers_count': { $mod: [10, 7] } }, { $set: { seen: true } })
  const third = await db.updateMany({ 'user.followers_count': { $mod: [10, 1] } }, { $set: { seen: true } })
  const { dead } = await db.index.stats()
  console.log(`${replaced.modifiedCount + others.modifiedCount + third.modifiedCount} replaced, ${dead} dead`)
  const worn = await latencies(db, () => true)
  report('worn', worn)

  let isOver = false
  const beside = monitorEventLoopDelay({ resolution })
  beside.enable()
  const rebuilding = db.index.rebuild().finally(() => {
    isOver = true
  })
  const [during, { documents, milliseconds: taken }] = await Promise.all([latencies(db, () => isOver), rebuilding])
  beside.disable()
  report('during', during)
  for (const [name, { p99 }] of during) {
    console.log(`during   ${name.padEnd(14)} p99 ${(p99 / worn.get(name)!.p99).toFixed(1)} × that of the worn index`)
  }

  report('after', await latencies(db, () => true))
  const delay = monitorEventLoopDelay({ resolution })
  delay.enable()
  const alone = await db.index.rebuild()
  delay.disable()
  const rate = (n: number, time: number): string => `${Math.round((n / time) * 1000).toLocaleString('en')}/s`
  console.log(`rebuilt ${rate(documents, taken)} beside queries, ${rate(alone.documents, alone.milliseconds)} alone`)
  for (const [when, { max, percentile }] of [
    ['beside queries', waits(beside)],
    ['alone', waits(delay)]
  ] as const) {
    console.log(`event loop ${when}: p99 ${milliseconds(percentile)}, worst ${milliseconds(max)}`)
  }
  const { dead: left, bytes } = await db.index.stats()
  console.log(`${left} dead, ${Math.round(bytes.total / documents)} bytes per document`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
