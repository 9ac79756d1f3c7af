/**
 * What do dates and ObjectIds cost in imports, in queries that the index cannot answer, and in reads? Compares
 * generated tweets as JSON has them with the same tweets as an application has them: an ObjectId as `_id`, another one
 * in a subdocument, and two dates instead of strings.
 *
 *     npm run build && node --import tsx bench/dates.ts [--count 200000 --rounds 5 --output bench/results]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ObjectId } from 'bson'
import type { Database, Document } from '../src/index.ts'
import { stringifyRelaxed } from '../src/model/extended-json.ts'
import { generateTweets, type Tweet } from '../src/workload/index.ts'
import { openDatabase } from './contenders/petaldb-api.ts'
import { machine } from './machine.ts'
import { header, significant, spreadCell, table } from './query-report.ts'
import { type Spread, spread } from './statistics.ts'

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '5' },
    output: { type: 'string' }
  }
})
const count = Number(options.count)
const rounds = Number(options.rounds)
const batch = 1000

function ofApplication(tweet: Tweet): Document {
  const { _id, created_at, user, ...rest } = tweet
  return {
    _id: new ObjectId(_id.toString(16).padStart(24, '0').slice(-24)),
    created_at: new Date(created_at),
    ...rest,
    user: { ...user, _id: new ObjectId(user.id % 2 ** 31), created_at: new Date(created_at) }
  }
}

const tweets = [...generateTweets({ count })]
const kinds = ['JSON', 'dates and ObjectIds'] as const
const documents = { JSON: tweets as unknown as Document[], 'dates and ObjectIds': tweets.map(ofApplication) }
const lines = { JSON: linesOf(documents.JSON), 'dates and ObjectIds': linesOf(documents['dates and ObjectIds']) }

/** Chunks of lines as mongoexport writes them. */
function linesOf(list: readonly Document[]): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < list.length; at += batch) {
    chunks.push(
      Buffer.from(
        list
          .slice(at, at + batch)
          .map((each) => `${stringifyRelaxed(each)}\n`)
          .join('')
      )
    )
  }
  return chunks
}

type Task = (db: Database, kind: (typeof kinds)[number]) => Promise<unknown>

async function inCalls(db: Database, list: readonly Document[]): Promise<void> {
  for (let at = 0; at < list.length; at += batch) await db.insertMany(list.slice(at, at + batch))
}

const imports: Readonly<Record<string, Task>> = {
  'insertMany of 1,000': (db, kind) => inCalls(db, documents[kind]),
  'one insertMany, by threads': (db, kind) => db.insertMany(documents[kind]),
  'importLines, no threads': (db, kind) => db.importLines(lines[kind], { threads: 0 }),
  'importLines, by threads': (db, kind) => db.importLines(lines[kind])
}
/** Tasks on a filled database. */
const reads: Readonly<Record<string, Task>> = {
  'a pattern that no text matches': (db) => db.countDocuments({ text: /xyzzyx/ }),
  'a pattern without a literal': (db) => db.countDocuments({ text: /q[0-9]{3}x/ }),
  'all documents, a scan': (db) => db.countDocuments({ 'user.followers_count': { $mod: [1, 0] } }, { hint: 'scan' }),
  'all documents, read': async (db) => {
    for await (const _ of db.find());
  },
  rebuild: (db) => db.index.rebuild()
}

/** Microseconds per document. */
async function timed(task: Task, db: Database, kind: (typeof kinds)[number]): Promise<number> {
  const begin = performance.now()
  await task(db, kind)
  return ((performance.now() - begin) / count) * 1000
}

async function inNewDatabase<T>(run: (db: Database) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'petaldb-dates-'))
  const db = await openDatabase(join(directory, 'tweets.db'))
  try {
    return await run(db)
  } finally {
    await db.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

const times = new Map<string, Record<string, number[]>>()
function note(title: string, kind: string, time: number): void {
  const known = times.get(title) ?? Object.fromEntries(kinds.map((each) => [each, []]))
  times.set(title, known)
  known[kind]!.push(time)
}

// Round −1 is a warm-up and not counted.
for (let round = -1; round < rounds; round++) {
  for (const kind of round % 2 === 0 ? kinds : [...kinds].reverse()) {
    for (const [title, task] of Object.entries(imports)) {
      const time = await inNewDatabase((db) => timed(task, db, kind))
      if (round >= 0) note(title, kind, time)
    }
    await inNewDatabase(async (db) => {
      await inCalls(db, documents[kind])
      for (const [title, task] of Object.entries(reads)) {
        const time = await timed(task, db, kind)
        if (round >= 0) note(title, kind, time)
      }
    })
  }
}

const rows = [...times].map(([title, byKind]) => {
  const [json, dated] = kinds.map((kind) => spread(byKind[kind]!)) as [Spread, Spread]
  return [title, spreadCell(json), spreadCell(dated), significant(dated.median / json.median)]
})
const command = `node --import tsx bench/dates.ts --count ${count} --rounds ${rounds}`
const markdown = `# What dates and ObjectIds cost

${header(machine(), command)}

Microseconds per document, ${count.toLocaleString('en')} tweets: median, least and most.

${table(['', 'JSON', 'with dates and ObjectIds', 'ratio'], rows)}
`
console.log(markdown)
if (options.output !== undefined) {
  mkdirSync(options.output, { recursive: true })
  writeFileSync(join(options.output, `dates-${count}.md`), markdown)
}
