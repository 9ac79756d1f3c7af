/**
 * What does it cost to get the first twenty documents of a sort order? Compares with sorting all matches, and with
 * SQLite, with an index per order and without. All return the same documents, which are generated tweets.
 *
 *     npm run build && node --import tsx bench/sorted.ts [--count 200000 --output bench/results]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Statement } from 'better-sqlite3'
import type { Document, Filter } from '../src/index.ts'
import { generateTweets } from '../src/workload/index.ts'
import { openDatabase } from './contenders/petaldb-api.ts'
import { machine } from './machine.ts'
import { header, significant, table } from './query-report.ts'
import { medianOf } from './repetitions.ts'
import { openSqliteFile } from './sqlite-file.ts'

const { values: options } = parseArgs({
  options: { count: { type: 'string', default: '200000' }, output: { type: 'string' } }
})
const count = Number(options.count)
const limit = 20
const rounds = 15
const fullRounds = 3

interface Question {
  readonly title: string
  readonly filter: Filter
  readonly sort: Record<string, 1 | -1>
  /** SQLite's condition and order. */
  readonly where: string
  readonly order: string
}

const field = (path: string): string => `json_extract(doc, '$.${path}')`
const questions: readonly Question[] = [
  { title: 'newest', filter: {}, sort: { timestamp_ms: -1 }, where: '1', order: `${field('timestamp_ms')} DESC` },
  {
    title: 'newest by ISO date',
    filter: {},
    sort: { created_at: -1 },
    where: '1',
    order: `${field('created_at')} DESC`
  },
  {
    title: 'newest of a language',
    filter: { lang: 'es' },
    sort: { timestamp_ms: -1 },
    where: `${field('lang')} = 'es'`,
    order: `${field('timestamp_ms')} DESC`
  },
  {
    title: 'most retweeted',
    filter: {},
    sort: { retweet_count: -1, _id: 1 },
    where: '1',
    order: `${field('retweet_count')} DESC, id`
  },
  {
    title: 'most retweeted of verified users',
    filter: { 'user.verified': true },
    sort: { retweet_count: -1, _id: 1 },
    where: `${field('user.verified')} = 1`,
    order: `${field('retweet_count')} DESC, id`
  },
  { title: 'greatest _id', filter: {}, sort: { _id: -1 }, where: '1', order: 'id DESC' },
  {
    title: 'by a name (no range codes)',
    filter: { lang: 'es' },
    sort: { 'user.screen_name': 1, _id: 1 },
    where: `${field('lang')} = 'es'`,
    order: `${field('user.screen_name')}, id`
  }
]
const indexes = [
  field('timestamp_ms'),
  field('created_at'),
  `${field('lang')}, ${field('timestamp_ms')}`,
  `${field('retweet_count')} DESC, id`,
  `${field('user.verified')}, ${field('retweet_count')} DESC, id`,
  `${field('lang')}, ${field('user.screen_name')}, id`
]

const directory = mkdtempSync(join(tmpdir(), 'petaldb-sorted-'))
process.on('exit', () => rmSync(directory, { recursive: true, force: true }))

function sqlite(name: string): ReturnType<typeof openSqliteFile> {
  const db = openSqliteFile(join(directory, name))
  db.exec('CREATE TABLE tweets (id INTEGER PRIMARY KEY, doc TEXT)')
  return db
}

const db = await openDatabase(join(directory, 'petaldb'))
const plain = sqlite('plain.sqlite')
const indexed = sqlite('indexed.sqlite')
const inserts = [plain, indexed].map((each) => each.prepare('INSERT INTO tweets VALUES (?, ?)'))
for (const each of [plain, indexed]) each.exec('BEGIN')
let batch: Document[] = []
for (const tweet of generateTweets({ count, seed: 1 })) {
  batch.push(tweet as unknown as Document)
  for (const insert of inserts) insert.run(tweet._id, JSON.stringify(tweet))
  if (batch.length < 1000) continue
  await db.insertMany(batch)
  batch = []
}
if (batch.length > 0) await db.insertMany(batch)
for (const each of [plain, indexed]) each.exec('COMMIT')
for (const columns of indexes) indexed.exec(`CREATE INDEX "${columns}" ON tweets (${columns.replaceAll('"', '')})`)

const rows: string[][] = []
for (const { title, filter, sort, where, order } of questions) {
  const sql = `SELECT doc FROM tweets WHERE ${where} ORDER BY ${order} LIMIT ${limit}`
  const [byIndex, byScan] = [indexed.prepare(sql).pluck(), plain.prepare(sql).pluck()]
  const parsed = (statement: Statement): Document[] =>
    (statement.all() as string[]).map((json) => JSON.parse(json) as Document)
  const find = (hint?: 'scan'): Promise<Document[]> => db.find(filter, { sort, limit, ...(hint && { hint }) }).toArray()
  const found = JSON.stringify(await find())
  for (const other of [await find('scan'), parsed(byIndex), parsed(byScan)]) {
    if (JSON.stringify(other) !== found) throw new Error(`${title}: other documents`)
  }
  const { executionStats } = await db.find(filter, { sort, limit }).explain()
  rows.push([
    title,
    significant(await medianOf(rounds, () => find())),
    executionStats.totalDocsExamined.toLocaleString('en'),
    significant(await medianOf(fullRounds, () => find('scan'))),
    significant(await medianOf(rounds, () => parsed(byIndex))),
    significant(await medianOf(fullRounds, () => parsed(byScan)))
  ])
}
await db.close()
for (const each of [plain, indexed]) each.close()

const report = [
  '# The first twenty of an order',
  '',
  header(machine(), `node --import tsx bench/sorted.ts --count ${count}`),
  '',
  `${count.toLocaleString('en')} generated tweets, milliseconds, medians of ${rounds} (${fullRounds} where all is read); the same documents from all.`,
  '',
  table(
    ['order', 'PetalDB', 'documents read', 'PetalDB, all sorted', 'SQLite, an index per order', 'SQLite, no index'],
    rows
  )
].join('\n')
console.log(report)
if (options.output !== undefined) {
  mkdirSync(options.output, { recursive: true })
  writeFileSync(join(options.output, `sorted-${count}.md`), `${report}\n`)
}
