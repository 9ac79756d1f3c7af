/**
 * How do the candidates and the time of a range query over times depend on the order of insertion? Documents are
 * inserted in the order of their times, or up to 30 seconds (60 documents) late; then half of them are replaced, one by
 * one in any order or by `updateMany`; then the index is rebuilt. Times are milliseconds (`ms`) and ISO dates (`at`).
 *
 *     npm run build && node --import tsx bench/range-order.ts [--count 200000 --output bench/results]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Database, Document, Filter } from '../src/index.ts'
import { Random } from '../src/workload/random.ts'
import { openDatabase } from './contenders/petaldb-api.ts'
import { machine } from './machine.ts'
import { header, significant, table } from './query-report.ts'
import { spread } from './statistics.ts'

const { values: options } = parseArgs({
  options: { count: { type: 'string', default: '200000' }, output: { type: 'string' } }
})
const count = Number(options.count)
const rounds = 50
const first = Date.UTC(2026, 0)
const millisecondsApart = 500
const maxLateness = 30_000
const rangeMilliseconds = 100_000

function* events(lateness: number): Generator<Document> {
  const random = new Random(1)
  for (let i = 0; i < count; i++) {
    const ms = first + i * millisecondsApart + (lateness === 0 ? 0 : random.below(lateness))
    yield { _id: i, ms, at: new Date(ms).toISOString(), digit: random.below(10), text: `word${random.below(5000)}` }
  }
}

const low = first + Math.floor(count * 0.4) * millisecondsApart
const high = low + rangeMilliseconds
const filters: readonly (readonly [string, Filter])[] = [
  ['ms', { ms: { $gte: low, $lt: high } }],
  ['at', { at: { $gte: new Date(low).toISOString(), $lt: new Date(high).toISOString() } }]
]

const rows: string[][] = []

async function measure(db: Database, order: string): Promise<void> {
  const { bytes, documents } = await db.index.stats()
  for (const [path, filter] of filters) {
    const { index, executionStats } = await db.find(filter).explain()
    const times: number[] = []
    for (let round = -rounds; round < rounds; round++) {
      const begin = performance.now()
      await db.find(filter).toArray()
      if (round >= 0) times.push(performance.now() - begin)
    }
    const { median, min, max } = spread(times)
    rows.push([
      order,
      path,
      String(executionStats.nReturned),
      String(index?.candidates ?? 0),
      `${significant(median)} (${significant(min)}–${significant(max)})`,
      (bytes.rangeCodes / documents).toFixed(2)
    ])
  }
}

async function replaceAnywhere(db: Database): Promise<void> {
  const random = new Random(2)
  for (let i = 0; i < count / 2; i++) {
    await db.updateOne({ _id: random.below(count) }, { $inc: { changes: 1 } })
  }
}

async function replaceInOrder(db: Database): Promise<void> {
  for (const digit of [0, 2, 4, 6, 8]) await db.updateMany({ digit }, { $set: { changes: 1 } })
}

const directory = mkdtempSync(join(tmpdir(), 'petaldb-bench-order-'))
try {
  const import_ = async (name: string, lateness: number): Promise<Database> => {
    const db = await openDatabase(join(directory, name), { autoRebuild: false })
    await db.insertMany(events(lateness))
    return db
  }
  await using inOrder = await import_('in-order', 0)
  await measure(inOrder, 'in order')
  for (const [name, replace] of [
    ['replaced anywhere', replaceAnywhere],
    ['replaced by updateMany', replaceInOrder]
  ] as const) {
    await using late = await import_(name, maxLateness)
    if (replace === replaceAnywhere) await measure(late, 'up to 30 s late')
    await replace(late)
    await measure(late, `late, half of them ${name}`)
    await late.index.rebuild()
    await measure(late, `${name}, and built again`)
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}

const markdown = `# Ranges over times, by the order of documents

${header(machine(), `node --import tsx bench/range-order.ts --count ${count}`)}

Milliseconds: medians of ${rounds} (least–greatest). Bytes: all columns of the index.

${table(['documents', 'path', 'found', 'candidates', 'ms', 'bytes of columns per document'], rows)}
`
console.log(markdown)
if (options.output !== undefined) {
  mkdirSync(options.output, { recursive: true })
  writeFileSync(join(options.output, `range-order-${count}.md`), markdown)
}
