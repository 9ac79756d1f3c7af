/** `petaldb bench`: measures performance on this machine. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Collection } from '../index.ts'
import type { Census, QueryClass, Tweet } from '../workload/index.ts'
import { type QueryTimes, timeQueries } from './bench-queries.ts'
import { type BenchReport, benchText, machineText } from './bench-report.ts'
import { command } from './command.ts'
import { openExisting, openToWrite } from './database.ts'
import { UsageError } from './errors.ts'
import { Interrupt } from './interrupt.ts'
import { printOutcome } from './line-writer.ts'
import { writeFile } from './output-file.ts'
import { type Position, Progress, showProgress } from './progress.ts'
import { Source } from './source.ts'
import { writeTweets } from './tweet-lines.ts'
import { wholeNumber } from './values.ts'
import { WorkDirectory } from './work-directory.ts'

/** Limited by the memory of the census. */
const maxTweets = 10_000_000

export const benchCommand = command({
  name: 'bench',
  summary: 'Measures the speed of imports and queries on this machine, with generated documents, in about a minute.',
  positionals: '',
  options: {
    count: { type: 'string', value: 'n', help: 'number of documents (default 100000)' },
    seed: { type: 'string', value: 's', help: 'seed of the generated documents (default 1)' },
    rounds: { type: 'string', value: 'n', help: 'timings per query, of which the median is reported (default 15)' },
    keep: { type: 'string', value: 'dir', help: 'create tweets.ndjson and tweets.db in this directory, and keep them' },
    json: { type: 'boolean', help: 'print the report as JSON' }
  },
  details: [
    'Imports generated tweets, closes and reopens the database, and runs a query of every class with and without the index.',
    'The exit status is 1 if the two do not find the same documents. Slow queries are timed less often. Without --keep, files',
    'are created in the temporary directory ($TMPDIR) and removed at the end, even after Ctrl-C.',
    '',
    '  petaldb bench',
    '  petaldb bench --count 1000000 --keep /mnt/disk/bench'
  ],
  async run(_, options) {
    // Imported lazily: loading it generates its vocabulary, which other commands need not wait for.
    const { leastTweets } = await import('../workload/index.ts')
    const plan = {
      count: wholeNumber('--count', options.count ?? '100000', leastTweets),
      seed: wholeNumber('--seed', options.seed ?? '1'),
      rounds: wholeNumber('--rounds', options.rounds ?? '15', 1)
    }
    if (plan.count > maxTweets) throw new UsageError(`--count takes at most ${maxTweets}, got ${plan.count}`)
    using interrupt = new Interrupt()
    let report: BenchReport
    try {
      using directory = options.keep === undefined ? WorkDirectory.temporary() : await WorkDirectory.kept(options.keep)
      report = await measure(plan, directory.path, interrupt.signal)
    } catch (error) {
      return interrupt.reportNotCreated('the report', error)
    }
    await printOutcome(options.json === true ? JSON.stringify(report) : benchText(report))
    return report.queries.every(({ isSame }) => isSame) ? 0 : 1
  }
})

interface Plan {
  readonly count: number
  readonly seed: number
  readonly rounds: number
}

async function measure(plan: Plan, directory: string, signal: AbortSignal): Promise<BenchReport> {
  const { count, seed } = plan
  const lines = join(directory, 'tweets.ndjson')
  const location = join(directory, 'tweets.db')
  const classes = await generate(plan, lines, signal)
  const importMilliseconds = await importLines(lines, location, signal)
  const diskBytes = await directoryBytes(location)

  const started = performance.now()
  await using db = await openExisting(location)
  const openMilliseconds = performance.now() - started
  // Before any query, because queries may trigger a rebuild of the index.
  const { indexBytes } = await db.stats()
  const queries = await runQueries(db, classes, plan, signal)
  return {
    machine: machineText(),
    count,
    seed,
    jsonBytes: (await stat(lines)).size,
    importMilliseconds,
    documentsPerSecond: (count / importMilliseconds) * 1000,
    diskBytes,
    indexBytes,
    indexBytesPerDocument: indexBytes / count,
    openMilliseconds,
    queries
  }
}

/** Writes the lines. @returns queries whose parameters occur in them */
async function generate({ count, seed }: Plan, path: string, signal: AbortSignal): Promise<readonly QueryClass[]> {
  const workload = await import('../workload/index.ts')
  const census = new workload.Census({ count, seed })
  using _ = new Progress(() => ({ documents: census.added, totalDocuments: count }))
  const tweets = countedIn(census, workload.generateTweets({ count, seed }))
  await writeFile(path, (writer) => writeTweets(writer, tweets, signal))
  return workload.queryClassesOf(census)
}

function* countedIn(census: Census, tweets: Iterable<Tweet>): Generator<Tweet> {
  for (const tweet of tweets) {
    census.add(tweet)
    yield tweet
  }
}

/** @returns the time from opening the new database until it was closed */
async function importLines(path: string, location: string, signal: AbortSignal): Promise<number> {
  const source = await Source.open(path, signal)
  let documents = 0
  using progress = new Progress(() => ({ documents, bytes: source.bytesRead, totalBytes: source.totalBytes }))
  {
    await using db = await openToWrite(location, { errorIfExists: true })
    await db.importLines(source.chunks(), {
      sourceBytes: source.contentBytes,
      signal,
      onProgress: ({ insertedCount }) => {
        documents = insertedCount
      }
    })
  }
  return progress.elapsedMilliseconds
}

/** Total size of all files. */
async function directoryBytes(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(file.parentPath, file.name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function runQueries(
  collection: Collection,
  classes: readonly QueryClass[],
  { rounds }: Plan,
  signal: AbortSignal
): Promise<readonly QueryTimes[]> {
  const position = (asked: number): Position => ({
    documents: asked,
    unit: 'queries',
    totalDocuments: classes.length
  })
  return await showProgress(position(0), (show) =>
    timeQueries(collection, classes, { rounds, signal, onProgress: (asked) => show(position(asked)) })
  )
}
