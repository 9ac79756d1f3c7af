/**
 * Imports tweets and runs boolean queries on them, without declaring an index.
 *
 *     node --import tsx examples/tweets.ts [tweets.ndjson[.gz]] [--count n] [--seed s] [--db directory]
 *
 * Without a file it generates 100,000 tweets; without a directory it uses a temporary one. In a project of your own,
 * import from 'petaldb'.
 */
import { inspect, parseArgs } from 'node:util'
import { type Collection, type Database, type Document, open } from '../src/index.ts'
import { generateTweets } from '../src/workload/index.ts'
import { readNdjson } from './support/ndjson.ts'
import { formatBytes, formatCount, formatDuration, formatPercent, formatTable, Progress } from './support/print.ts'
import { run } from './support/run.ts'
import { TemporaryDirectory } from './support/temporary-directory.ts'
import { type Question, TweetCensus } from './support/tweet-queries.ts'

/** Number of runs per query; the time shown is the median. */
const runs = 5

const { values, positionals } = parseArgs({
  options: { count: { type: 'string' }, seed: { type: 'string' }, db: { type: 'string' } },
  allowPositionals: true
})
const [file] = positionals
const count = Number(values.count ?? (file === undefined ? 100_000 : Number.POSITIVE_INFINITY))

await run(async () => {
  using directory = new TemporaryDirectory(values.db)
  const { signal } = directory
  await using db = await open(directory.path, { errorIfExists: true })
  const tweets = file === undefined ? generateTweets({ count, seed: Number(values.seed ?? 1) }) : readNdjson(file)
  const census = await importTweets(db, tweets, signal)
  await askAll(db, census.questions(), signal)
  if (!signal.aborted) await printSizes(db)
})

async function importTweets(
  collection: Collection,
  source: Iterable<Document> | AsyncIterable<Document>,
  signal: AbortSignal
): Promise<TweetCensus> {
  const counted = new TweetCensus()
  using progress = new Progress(() => ({
    documents: counted.count,
    bytes: counted.count,
    totalBytes: Number.isFinite(count) ? count : undefined
  }))
  /** The source for insertMany(), which takes any iterable and never reads more of it than it can hold. */
  async function* watched(): AsyncGenerator<Document> {
    for await (const tweet of source) {
      if (signal.aborted || counted.count >= count) return
      counted.add(tweet)
      yield tweet
    }
  }
  const { insertedCount } = await collection.insertMany(watched())
  const milliseconds = progress.elapsedMilliseconds
  progress[Symbol.dispose]()
  const what = file === undefined ? 'generated tweets' : `tweets from ${file}`
  const rate = formatCount((insertedCount / milliseconds) * 1000)
  console.log(`imported ${formatCount(insertedCount)} ${what} in ${formatDuration(milliseconds)} (${rate}/s)\n`)
  return counted
}

async function askAll(collection: Collection, questions: readonly Question[], signal: AbortSignal): Promise<void> {
  const rows = [['query', 'hits', 'time', 'candidates', 'certain', 'false', 'filter']]
  for (const question of questions) {
    if (signal.aborted) return
    rows.push(await ask(collection, question))
  }
  console.log(formatTable(rows, 'lrrrrrl').join('\n'))
  console.log('\ntime: median of %d runs, all hits fetched and parsed', runs)
  console.log(
    'candidates: documents that the index could not exclude; certain: candidates that it proves to match, which'
  )
  console.log('are not tested; false: candidates that were tested and do not match\n')
  await compareWithScan(collection, questions)
}

async function ask(collection: Collection, { title, filter, options = {} }: Question): Promise<string[]> {
  const { milliseconds, hits } = await measure(() => collection.find(filter, options).toArray(), runs)
  const { index } = await collection.find(filter, options).explain()
  const filterText = filterAsCode(filter)
  return [
    title,
    formatCount(hits),
    formatDuration(milliseconds),
    formatCount(index.candidates),
    formatCount(index.certain),
    formatCount(index.falsePositives),
    filterText.length <= 80 ? filterText : `${filterText.slice(0, 79)}…`
  ]
}

function filterAsCode(filter: Document): string {
  const text = inspect(filter, { depth: null, compact: 100, breakLength: Number.POSITIVE_INFINITY })
  return text.replace(/\s+/g, ' ').replace(/'(\$\w+)'(?=:)/g, '$1')
}

/** Runs the same query without the index. */
async function compareWithScan(collection: Collection, questions: readonly Question[]): Promise<void> {
  const question = questions.find(({ title }) => title === 'AND of three')
  if (question === undefined) return
  const { title, filter } = question
  const indexed = await measure(() => collection.find(filter).toArray(), runs)
  const scanned = await measure(() => collection.find(filter, { hint: 'scan' }).toArray(), 1)
  const factor = formatCount(scanned.milliseconds / indexed.milliseconds)
  const times = `${formatDuration(indexed.milliseconds)} with the index, ${formatDuration(scanned.milliseconds)} without`
  const same = indexed.hits === scanned.hits ? 'same hits' : `${indexed.hits} and ${scanned.hits} hits`
  console.log(`${title}: ${times}: ${factor} times faster, ${same}`)
}

async function measure(find: () => Promise<readonly Document[]>, times: number) {
  const milliseconds: number[] = []
  let hits = 0
  for (let i = 0; i < times; i++) {
    const started = performance.now()
    hits = (await find()).length
    milliseconds.push(performance.now() - started)
  }
  milliseconds.sort((a, b) => a - b)
  return { hits, milliseconds: milliseconds[times >> 1] ?? 0 }
}

async function printSizes(db: Database): Promise<void> {
  const { documents, documentBytes, indexBytes } = await db.stats()
  const each = (bytes: number): string => `${(bytes / documents).toFixed(0)} bytes per document`
  console.log(`documents: ${formatBytes(documentBytes)} of JSON, ${each(documentBytes)}`)
  console.log(
    `index: ${formatBytes(indexBytes)}, ${each(indexBytes)}, ${formatPercent(indexBytes / documentBytes)} of the JSON`
  )
}
