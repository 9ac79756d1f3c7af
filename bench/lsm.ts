/**
 * How does LsmLevel compare with classic-level as a store of bytes, on the same machine and in the same run?
 *
 *     npm run bench:lsm [-- --count 1000000 --rounds 5 --fills 3 --seed 1 --only lsm]
 *
 * Each store runs in a process of its own. Every measure runs on both stores in each round, and the order alternates.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { isRead, type MeasureName, measures } from './lsm/measures.ts'
import { type LsmReport, lsmMarkdown, type StoreResult } from './lsm/report.ts'
import { type StoreName, storeNames } from './lsm/store.ts'
import type { StoreHandlers } from './lsm/store-process.ts'
import { machine } from './machine.ts'
import { connect } from './rpc.ts'
import { spread } from './statistics.ts'

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    fills: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    output: { type: 'string' }
  }
})
const count = Number(options.count)
const rounds = Number(options.rounds)
const fills = Number(options.fills)
const seed = Number(options.seed)
const wanted = storeNames.filter((name) => options.only === undefined || name === options.only)

interface Running {
  readonly name: StoreName
  readonly child: ReturnType<typeof connect<StoreHandlers>>
  readonly samples: Map<string, number[]>
  readonly result: Partial<Mutable<StoreResult>>
}
type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const stores: Running[] = wanted.map((name) => ({
  name,
  child: connect<StoreHandlers>(new URL('lsm/store-process.ts', import.meta.url)),
  samples: new Map(),
  result: {}
}))

for (const order of ['sequential', 'random'] as const) {
  await inTurn(fills, `batch put of 1,000, ${order} keys, per entry`, async ({ child, name, result }) => {
    const { microseconds, rssBytes } = await child.call('fill', { name, count, order, seed })
    result.rssAfterFillBytes = rssBytes
    return microseconds
  })
}
for (const store of stores) store.result.size = await store.child.call('size', undefined)
let wasRead = false
for (const measure of Object.keys(measures) as MeasureName[]) {
  if (isRead(measure)) {
    if (!wasRead) await settle()
    for (const { child } of stores) await child.call('warmUp', measure)
  }
  wasRead = isRead(measure)
  await inTurn(rounds, measure, ({ child }) => child.call('measure', measure))
}
for (const store of stores) store.result.sustained = await store.child.call('sustainedPuts', Math.min(count, 300_000))
await settle()
await inTurn(rounds, 'open after a clean close, milliseconds', async ({ child }) => {
  return (await child.call('open', undefined)).milliseconds
})
for (const { child, result } of stores) {
  result.rssBytes = await child.call('memory', undefined)
  await child.call('close', undefined)
  await child.end()
}

const report: LsmReport = {
  machine: machine(),
  command: `npm run bench:lsm -- --count ${count} --rounds ${rounds} --fills ${fills} --seed ${seed}`,
  count,
  stores: stores.map(({ name, samples, result }) => ({
    // All fields have been measured above.
    ...(result as StoreResult),
    name,
    measures: Object.fromEntries([...samples].map(([label, values]) => [label, spread(values)]))
  }))
}
const markdown = lsmMarkdown(report)
console.log(markdown)
if (options.output !== undefined) {
  mkdirSync(options.output, { recursive: true })
  writeFileSync(`${options.output}/lsm-${count}.json`, `${JSON.stringify(report, undefined, 2)}\n`)
  writeFileSync(`${options.output}/lsm-${count}.md`, markdown)
}

/** Waits for the background work of earlier writes, so that it does not count in the next measurement. */
async function settle(): Promise<void> {
  for (const { child } of stores) await child.call('settle', undefined)
}

async function inTurn(times: number, label: string, run: (store: Running) => Promise<number>): Promise<void> {
  for (let round = 0; round < times; round++) {
    for (const store of round % 2 === 0 ? stores : [...stores].reverse()) {
      const value = await run(store)
      console.error(`${label}: ${store.name} ${value.toFixed(2)}`)
      const kept = store.samples.get(label)
      if (kept === undefined) store.samples.set(label, [value])
      else kept.push(value)
    }
  }
}
