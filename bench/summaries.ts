/**
 * What do summaries of a collection cost: counts, distinct values, number of documents with each, distant pages? And
 * what do questions cost that only the documents answer?
 * Compares with reading all documents, and with SQLite, with an index per question and without. All results are equal.
 *
 *     npm run build && node --import tsx bench/summaries.ts [--count 1000000 --output bench/results]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Database } from '../src/index.ts'
import { generateTweets } from '../src/workload/index.ts'
import { openDatabase } from './contenders/petaldb-api.ts'
import { machine } from './machine.ts'
import { header, significant, table } from './query-report.ts'
import { medianOf } from './repetitions.ts'
import { openSqliteFile } from './sqlite-file.ts'

const { values: options } = parseArgs({
  options: { count: { type: 'string', default: '1000000' }, output: { type: 'string' } }
})
const count = Number(options.count)
const rounds = 15
/** Rounds where everything is read, or nearly. */
const fullRounds = 3
/** Milliseconds that only such questions take. */
const fullRead = 500

type Hint = { readonly hint?: 'scan' }
type Row = readonly unknown[]

interface Question {
  readonly title: string
  readonly ask: (db: Database, hint: Hint) => Promise<readonly Row[]>
  /** Missing if SQL cannot express the question. */
  readonly sql?: string
}

const field = (path: string): string => `json_extract(doc, '$.${path}')`
const lang = field('lang')
const city = field('user.location')
const verified = field('user.verified')
const country = field('place.country_code')
const place = field('place')
const created = field('created_at')
const followers = field('user.followers_count')
const far = Math.floor(count / 2)
const deep = Math.floor(count / 10)
/** In few texts. */
const fragment = 'thst inger'

const groups = async (db: Database, pipeline: readonly object[], hint: Hint): Promise<Row[]> => {
  const found = await db.aggregate<{ _id: unknown; n: number }>(pipeline as never, hint).toArray()
  return found.map(({ _id, n }) => [_id, n])
}

const pathsOf = async (db: Database, filter: object, hint: Hint): Promise<Row[]> => {
  const found = await db.paths(filter as never, hint)
  return found.map(({ path, documents, types }) => [path, documents, types])
}

const questions: readonly Question[] = [
  {
    title: 'how many of a language',
    ask: async (db, hint) => [[await db.countDocuments({ lang: 'es' }, hint)]],
    sql: `SELECT count(*) FROM tweets WHERE ${lang} = 'es'`
  },
  {
    title: 'how many of all other languages, by verified users',
    ask: async (db, hint) => [[await db.countDocuments({ lang: { $ne: 'en' }, 'user.verified': true }, hint)]],
    sql: `SELECT count(*) FROM tweets WHERE ${lang} <> 'en' AND ${verified} = 1`
  },
  {
    title: 'how many without a place',
    ask: async (db, hint) => [[await db.countDocuments({ place: null }, hint)]],
    sql: `SELECT count(*) FROM tweets WHERE ${place} IS NULL`
  },
  {
    title: 'which languages',
    ask: async (db, hint) => (await db.distinct('lang', {}, hint)).map((value) => [value]),
    sql: `SELECT DISTINCT ${lang} FROM tweets`
  },
  {
    title: 'which cities, of verified users',
    ask: async (db, hint) =>
      (await db.distinct('user.location', { 'user.verified': true }, hint)).map((value) => [value]),
    sql: `SELECT DISTINCT ${city} FROM tweets WHERE ${verified} = 1 AND ${city} IS NOT NULL`
  },
  {
    title: 'tweets of each language',
    ask: (db, hint) => groups(db, [{ $group: { _id: '$lang', n: { $sum: 1 } } }], hint),
    sql: `SELECT ${lang}, count(*) FROM tweets GROUP BY 1`
  },
  {
    title: 'tweets of each city',
    ask: (db, hint) => groups(db, [{ $group: { _id: '$user.location', n: { $sum: 1 } } }], hint),
    sql: `SELECT ${city}, count(*) FROM tweets GROUP BY 1`
  },
  {
    title: 'tweets of each country, in a language',
    ask: (db, hint) =>
      groups(db, [{ $match: { lang: 'es' } }, { $group: { _id: '$place.country_code', n: { $sum: 1 } } }], hint),
    sql: `SELECT ${country}, count(*) FROM tweets WHERE ${lang} = 'es' GROUP BY 1`
  },
  {
    title: `20 documents behind ${far.toLocaleString('en')}`,
    ask: async (db, hint) => (await db.find({}, { ...hint, skip: far, limit: 20 }).toArray()).map(({ _id }) => [_id]),
    sql: `SELECT id FROM tweets ORDER BY id LIMIT 20 OFFSET ${far}`
  },
  {
    title: `20 of a language behind ${Math.floor(far / 10).toLocaleString('en')}`,
    ask: async (db, hint) =>
      (await db.find({ lang: 'es' }, { ...hint, skip: Math.floor(far / 10), limit: 20 }).toArray()).map(({ _id }) => [
        _id
      ]),
    sql: `SELECT id FROM tweets WHERE ${lang} = 'es' ORDER BY id LIMIT 20 OFFSET ${Math.floor(far / 10)}`
  },
  {
    title: `20 of a language, newest first, behind ${deep.toLocaleString('en')}`,
    ask: async (db, hint) => {
      const page = { ...hint, sort: { created_at: -1 }, skip: deep, limit: 20 } as const
      return (await db.find({ lang: 'en' }, page).toArray()).map((tweet) => [tweet.created_at])
    },
    sql: `SELECT ${created} FROM tweets WHERE ${lang} = 'en' ORDER BY ${created} DESC LIMIT 20 OFFSET ${deep}`
  },
  {
    title: `20 by followers, most first, behind ${deep.toLocaleString('en')}`,
    ask: async (db, hint) => {
      const page = { ...hint, sort: { 'user.followers_count': -1 }, skip: deep, limit: 20 } as const
      const found = (await db.find({}, page).toArray()) as unknown as { user: { followers_count: number } }[]
      return found.map(({ user }) => [user.followers_count])
    },
    sql: `SELECT ${followers} FROM tweets ORDER BY ${followers} DESC LIMIT 20 OFFSET ${deep}`
  },
  {
    title: 'which paths, of which types, in how many',
    ask: (db, hint) => pathsOf(db, {}, hint)
  },
  {
    title: 'the same, of verified users with a place',
    ask: (db, hint) => pathsOf(db, { 'user.verified': true, place: { $type: 'object' } }, hint)
  },
  {
    title: 'which hashtags, in arrays',
    ask: async (db, hint) => (await db.distinct('entities.hashtags.text', {}, hint)).map((value) => [value]),
    sql: `SELECT DISTINCT json_extract(value, '$.text') FROM tweets, json_each(doc, '$.entities.hashtags')`
  },
  {
    title: 'tweets of each hour',
    ask: (db, hint) => groups(db, [{ $group: { _id: { $substr: ['$created_at', 0, 13] }, n: { $sum: 1 } } }], hint),
    sql: `SELECT substr(${created}, 1, 13), count(*) FROM tweets GROUP BY 1`
  },
  {
    title: 'how many with a hundred times as many followers as friends',
    ask: async (db, hint) => {
      const friends = { $multiply: ['$user.friends_count', 100] }
      return [[await db.countDocuments({ $expr: { $gt: ['$user.followers_count', friends] } }, hint)]]
    },
    sql: `SELECT count(*) FROM tweets WHERE ${followers} > 100 * ${field('user.friends_count')}`
  },
  {
    title: 'at most 20 texts with a fragment that few have',
    ask: async (db, hint) =>
      (await db.find({ text: { $regex: fragment } }, { ...hint, limit: 20 }).toArray()).map(({ text }) => [text]),
    sql: `SELECT ${field('text')} FROM tweets WHERE ${field('text')} GLOB '*${fragment}*' ORDER BY id LIMIT 20`
  },
  {
    title: 'the first 20 by their text',
    ask: async (db, hint) =>
      (await db.find({}, { ...hint, sort: { text: 1 }, limit: 20 }).toArray()).map(({ text }) => [text]),
    sql: `SELECT ${field('text')} AS text FROM tweets ORDER BY text LIMIT 20`
  }
]
const indexes = [
  place,
  `${lang}, ${verified}`,
  `${verified}, ${city}`,
  city,
  `${lang}, ${country}`,
  `${lang}, ${created}`,
  followers
]

const directory = mkdtempSync(join(tmpdir(), 'petaldb-summaries-'))
process.on('exit', () => rmSync(directory, { recursive: true, force: true }))

function sqlite(name: string): ReturnType<typeof openSqliteFile> {
  const db = openSqliteFile(join(directory, name))
  db.exec('CREATE TABLE tweets (id INTEGER PRIMARY KEY, doc TEXT)')
  return db
}

const location = join(directory, 'petaldb')
let db = await openDatabase(location)
const plain = sqlite('plain.sqlite')
const indexed = sqlite('indexed.sqlite')
const inserts = [plain, indexed].map((each) => each.prepare('INSERT INTO tweets VALUES (?, ?)'))
for (const each of [plain, indexed]) each.exec('BEGIN')
await db.importLines(
  (function* () {
    let lines: string[] = []
    for (const tweet of generateTweets({ count, seed: 1 })) {
      const json = JSON.stringify(tweet)
      for (const insert of inserts) insert.run(tweet._id, json)
      lines.push(`${json}\n`)
      if (lines.length < 1000) continue
      yield Buffer.from(lines.join(''))
      lines = []
    }
    yield Buffer.from(lines.join(''))
  })()
)
for (const each of [plain, indexed]) each.exec('COMMIT')
for (const columns of indexes) indexed.exec(`CREATE INDEX "${columns}" ON tweets (${columns.replaceAll('"', '')})`)
await db.close()
db = await openDatabase(location)

/** Text that does not depend on the order of rows. */
function normalised(rows: readonly Row[]): string {
  return JSON.stringify(rows.map((row) => JSON.stringify(row)).sort())
}

interface Measured {
  readonly question: Question
  readonly median: number
  readonly cells: readonly string[]
}

const measured: Measured[] = []
for (const question of questions) {
  const { title, ask, sql } = question
  const bySql = (sql === undefined ? [] : [indexed, plain]).map((each) => {
    const statement = each.prepare(sql!)
    return (): Row[] => (statement.all() as object[]).map((row) => Object.values(row))
  })
  const begin = performance.now()
  const found = normalised(await ask(db, {}))
  const milliseconds = performance.now() - begin
  const first = significant(milliseconds)
  const times = milliseconds > fullRead ? fullRounds : rounds
  for (const other of [await ask(db, { hint: 'scan' }), ...bySql.map((read) => read())]) {
    if (normalised(other) !== found) throw new Error(`${title}: another answer`)
  }
  const [byIndex, byScan] = bySql
  const median = await medianOf(times, () => ask(db, {}))
  const cells = [
    first,
    significant(await medianOf(fullRounds, () => ask(db, { hint: 'scan' }))),
    byIndex === undefined ? '–' : significant(await medianOf(times, byIndex)),
    byScan === undefined ? '–' : significant(await medianOf(fullRounds, byScan))
  ]
  measured.push({ question, median, cells })
  console.error([title, significant(median), ...cells].join(' | '))
}
await db.close()
for (const each of [plain, indexed]) each.close()

// The same where everything is read, without the help of threads.
db = await openDatabase(location, { scanThreads: 0 })
const rows: string[][] = []
for (const { question, median, cells } of measured) {
  const { title, ask } = question
  const alone = median < fullRead / 2 ? '' : significant(await medianOf(fullRounds, () => ask(db, {})))
  rows.push([title, significant(median), alone, ...cells])
}
await db.close()

const report = [
  '# What a collection holds',
  '',
  header(machine(), `node --import tsx bench/summaries.ts --count ${count}`),
  '',
  `${count.toLocaleString('en')} generated tweets, milliseconds, medians of ${rounds} (${fullRounds} where all is read); all give the same. *First*: asked once, in this order, after the database was opened again.`,
  '',
  table(
    [
      'question',
      'PetalDB',
      'without threads',
      'first',
      'PetalDB, all read',
      'SQLite, an index per question',
      'SQLite, no index'
    ],
    rows
  )
].join('\n')
console.log(report)
if (options.output !== undefined) {
  mkdirSync(options.output, { recursive: true })
  writeFileSync(join(options.output, `summaries-${count}.md`), `${report}\n`)
}
