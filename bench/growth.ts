/**
 * How do query times grow with the collection? Compares two results of bench/million.ts, the smaller collection first:
 *
 *     node --import tsx bench/growth.ts bench/results/million-1000000.json bench/results/million-3000000.json
 *
 * With three times as many documents, queries have three times as many hits if hits are a share of the documents, and
 * otherwise three times as many segments to search: any further growth is overhead. `--contender` selects another
 * store than petaldb.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Comparison } from './comparison.ts'
import { contenderNames } from './contender.ts'
import { machineLine } from './machine.ts'
import { significant, table } from './query-report.ts'

/** Maximum growth of a query's time relative to that of the collection. */
const limit = 1.3

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { contender: { type: 'string', default: 'petaldb' } }
})
const name = contenderNames.find((each) => each === options.contender)
const [small, large] = positionals.map((path) => JSON.parse(readFileSync(path, 'utf8')) as Comparison)
if (name === undefined || small === undefined || large === undefined || small.count >= large.count) {
  console.error('usage: node --import tsx bench/growth.ts [--contender petaldb] smaller.json larger.json')
  process.exit(1)
}

const growth = large.count / small.count
const rows = small.queries.flatMap(({ name: query, title, hits, milliseconds }) => {
  const other = large.queries.find((each) => each.name === query)
  const before = milliseconds[name]?.median
  const after = other?.milliseconds[name]?.median
  if (other === undefined || before === undefined || after === undefined) return []
  const share = after / before / growth
  const hitCounts = [hits, other.hits].map((each) => each.toLocaleString('en'))
  const times = [before, after, after / before].map(significant)
  return [[title, ...hitCounts, ...times, share.toFixed(2), share <= limit ? 'met' : 'NOT met']]
})
const [fewer, more] = [small, large].map(({ count }) => count.toLocaleString('en'))
console.log(`# ${name}: from ${fewer} to ${more} tweets

${machineLine(small.machine)}
${machineLine(large.machine)}

Medians in milliseconds. *Of linear* is the growth of the time over that of the collection, ${growth.toFixed(1)} ×; the target is ${limit} at
most.

${table(['query', `hits of ${fewer}`, `of ${more}`, `ms of ${fewer}`, `of ${more}`, '×', 'of linear', 'target'], rows)}

${table(
  ['', fewer ?? '', more ?? ''],
  [
    ['import, documents/s', ...[small, large].map((each) => figure(each, (of) => of.documents / of.loadSeconds))],
    [
      'index, bytes per document',
      ...[small, large].map((each) => figure(each, (of) => perDocument(of.indexBytes, of)))
    ],
    [
      'disk, bytes per document',
      ...[small, large].map((each) => figure(each, (of) => perDocument(of.disk?.total, of)))
    ],
    ['open, ms', ...[small, large].map((each) => figure(each, ({ openMilliseconds }) => openMilliseconds?.median))],
    [
      'RSS after each query once, MB',
      ...[small, large].map((each) => figure(each, (of) => megabytes(of.rssAfterFirstQueriesBytes?.median)))
    ],
    [
      'RSS after all repetitions, MB',
      ...[small, large].map((each) => figure(each, (of) => megabytes(of.rssAfterQueriesBytes)))
    ]
  ]
)}`)

type Result = Comparison['contenders'][number]

function figure({ contenders }: Comparison, of: (result: Result) => number | undefined): string {
  const result = contenders.find((each) => each.name === name)
  return Math.round((result && of(result)) ?? Number.NaN).toLocaleString('en')
}

function perDocument(bytes: number | undefined, { documents }: Result): number | undefined {
  return bytes === undefined ? undefined : bytes / documents
}

function megabytes(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : bytes / 1e6
}
