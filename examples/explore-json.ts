/**
 * Finds out what a pile of JSON contains, then queries it.
 *
 *     node --import tsx examples/explore-json.ts [file.ndjson[.gz]] [filter] [--count n]
 *
 * Without a file it explores generated tweets. The filter is a MongoDB filter in JSON. In a project of your own, import
 * from 'petaldb'.
 */
import { parseArgs } from 'node:util'
import { type Collection, type Document, type Filter, open } from '../src/index.ts'
import { generateTweets } from '../src/workload/index.ts'
import { readNdjson } from './support/ndjson.ts'
import { PathCensus, type PathFacts, type Scalar } from './support/path-census.ts'
import {
  formatCount,
  formatDuration,
  formatPercent,
  formatTable,
  hasColours,
  Progress,
  prettyJson
} from './support/print.ts'
import { proposeQueries } from './support/propose-queries.ts'
import { run } from './support/run.ts'
import { TemporaryDirectory } from './support/temporary-directory.ts'

const maxPathsShown = 40
const maxDocumentsShown = 3

const { values, positionals } = parseArgs({ options: { count: { type: 'string' } }, allowPositionals: true })
const [file, filterText] = positionals
const limit = Number(values.count ?? (file === undefined ? 20_000 : Number.POSITIVE_INFINITY))

await run(async () => {
  const filter = filterText === undefined ? undefined : (JSON.parse(filterText) as Filter)
  using directory = new TemporaryDirectory()
  const { signal } = directory
  await using db = await open(directory.path)
  const source = file === undefined ? generateTweets({ count: limit }) : readNdjson(file)
  const census = await importAll(db, source, signal)
  const paths = census.facts()
  printPaths(paths, census.documents)
  if (signal.aborted) return
  if (filter === undefined) await askProposals(db, paths, census.documents)
  else await show(db, filter)
})

async function importAll(
  collection: Collection,
  source: Iterable<Document> | AsyncIterable<Document>,
  signal: AbortSignal
): Promise<PathCensus> {
  const census = new PathCensus()
  using progress = new Progress(() => ({
    documents: census.documents,
    bytes: census.documents,
    totalBytes: Number.isFinite(limit) ? limit : undefined
  }))
  async function* watched(): AsyncGenerator<Document> {
    for await (const document of source) {
      if (signal.aborted || census.documents >= limit) return
      census.add(document)
      yield document
    }
  }
  await collection.insertMany(watched())
  const time = formatDuration(progress.elapsedMilliseconds)
  progress[Symbol.dispose]()
  console.log(`${formatCount(census.documents)} documents from ${file ?? 'generated tweets'}, imported in ${time}\n`)
  return census
}

function printPaths(paths: readonly PathFacts[], documents: number): void {
  const rows = paths
    .slice(0, maxPathsShown)
    .map(({ path, types, documents: having, distinct, isTruncated, values }) => [
      path,
      types.join(' | '),
      formatPercent(having / documents),
      distinct === 0 ? '' : `${formatCount(distinct)}${isTruncated ? '+' : ''}`,
      values
        .slice(0, 3)
        .map(([value, count]) => `${shortened(value)} ×${formatCount(count)}`)
        .join('  ')
    ])
  console.log(formatTable([['path', 'types', 'in', 'values', 'most frequent'], ...rows], 'llrrl').join('\n'))
  const hidden = paths.length - rows.length
  console.log(hidden > 0 ? `… and ${formatCount(hidden)} more paths\n` : '')
}

function shortened(value: Scalar): string {
  const text = JSON.stringify(value)
  return text.length <= 24 ? text : `${text.slice(0, 23)}…`
}

async function askProposals(collection: Collection, paths: readonly PathFacts[], documents: number): Promise<void> {
  const rows = [['sample query', 'hits', 'time', 'candidates', 'certain', 'false', 'filter']]
  for (const { why, filter } of proposeQueries(paths, documents)) {
    const started = performance.now()
    const hits = (await collection.find(filter).toArray()).length
    const time = formatDuration(performance.now() - started)
    const { index } = await collection.find(filter).explain()
    const { candidates, certain, falsePositives } = index
    rows.push([why, ...[hits, candidates, certain, falsePositives].map(formatCount), JSON.stringify(filter)])
    rows.at(-1)?.splice(2, 0, time)
  }
  console.log(formatTable(rows, 'lrrrrrl').join('\n'))
}

async function show(collection: Collection, filter: Filter): Promise<void> {
  const { executionStats, index } = await collection.find(filter).explain()
  console.log(`${formatCount(executionStats.nReturned)} hits in ${formatDuration(index.milliseconds)}`)
  console.log(`bounds: ${index.bounds}`)
  console.log(`${formatCount(index.candidates)} candidates, ${formatCount(index.certain)} of them certain\n`)
  for await (const document of collection.find(filter).limit(maxDocumentsShown)) {
    const text = JSON.stringify(document, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
    console.log(prettyJson(text, hasColours(process.stdout)))
  }
}
