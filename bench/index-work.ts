/**
 * What does the index cost a query: everything from the filter's bounds to the ordinals of candidates, without fetching
 * documents? How much of that is only for reading the bits, how many candidates are false positives, and how does it
 * grow with the collection?
 *
 *     node --import tsx bench/index-work.ts [--counts 1000000,3000000] [--seed n] [--tail fingerprint]
 *
 * Microseconds of processor time per query, with rows in memory. Prints the result to stdout: see
 * bench/results/index-work.md.
 */
import { parseArgs } from 'node:util'
import { enumerateSlack, rowMemory } from '../src/bloom/kernels/index.ts'
import { compileFilter } from '../src/query/filter.ts'
import type { DocumentSource, SegmentCandidates } from '../src/sharded-bloom/document-index.ts'
import { createShardedIndex } from '../src/sharded-bloom/sharded-index.ts'
import { generateTweets, type Query, type QueryClass, queryClasses } from '../src/workload/index.ts'
import { RecordMap } from '../test/support/index-harness.ts'
import { machine, machineLine } from './machine.ts'
import { table } from './query-report.ts'
import { compare, processorClock, type Spread } from './spread.ts'
import { twelve } from './twelve.ts'

const { values: options } = parseArgs({
  options: {
    counts: { type: 'string', default: '1000000,3000000' },
    seed: { type: 'string', default: '1' },
    tail: { type: 'string', default: 'bloom' }
  }
})
const counts = options.counts.split(',').map(Number)
const untimedMilliseconds = 300
const seed = Number(options.seed)
const rowBytes = 8192
const runs = 200

/** Of the twelve classes: microseconds and growth of linear at most, false positives allowed beside a tenth of the hits. */
const targets = { index: 150, growth: 1.3, inVain: 20 }

const fail = (message: string): never => {
  throw new Error(message)
}
const documents: DocumentSource = {
  async *read(from, to) {
    let ordinal = from
    for (const tweet of generateTweets({ count: to - from, seed, start: from })) yield [ordinal++, tweet]
  }
}
const tail = options.tail as 'bloom' | 'fingerprint'
const index = createShardedIndex({ store: new RecordMap(), documents, onDamage: fail, tail })
await index.open(0, 0)
const encoder = new TextEncoder()
let limit = 0

async function growTo(count: number): Promise<void> {
  for (const tweet of generateTweets({ count: count - limit, seed, start: limit })) {
    const bytes = encoder.encode(JSON.stringify(tweet))
    if (!index.addBytes?.(limit, bytes, 0, bytes.length, 'json')) index.add(limit, index.flatten(tweet))
    limit++
    if (limit % 1000 === 0) await index.maintain(limit)
  }
}

/** Sum of ordinals, printed so that reading them cannot be optimised away. */
let ordinals = 0

interface Work {
  segments: number
  kibibytes: number
  candidates: number
  certain: number
}

/** Evaluates a query like a read, but without fetching documents. */
function evaluate({ filter, sort, limit: wanted = Number.POSITIVE_INFINITY }: Query): Work {
  const { bounds } = compileFilter(filter)
  const view = index.capture(limit)
  const step = sort === undefined ? 1 : -1
  const last = view.segmentCount - 1
  let sum = 0
  const work: Work = { segments: 0, kibibytes: 0, candidates: 0, certain: 0 }
  for (let i = 0; i <= last && work.candidates < wanted; i++) {
    i += view.skip?.(step === 1 ? i : last - i, bounds, step) ?? 0
    if (i > last) break
    // Synchronous, since warmUp() has loaded the rows.
    const segment = view.evaluate(step === 1 ? i : last - i, bounds) as SegmentCandidates
    const { upperCount } = segment
    for (let k = 0; k < upperCount; k++) sum += segment.ordinal(k)
    work.segments++
    work.kibibytes += segment.bytesTouched / 1024
    work.candidates += segment.upperCount
    work.certain += segment.lowerCount
  }
  view.close()
  ordinals += sum
  return work
}

/** Loads every row that the query needs. */
async function warmUp({ filter }: Query): Promise<void> {
  const { bounds } = compileFilter(filter)
  const view = index.capture(limit)
  for (let i = 0; i < view.segmentCount; i++) await view.evaluate(i, bounds)
  view.close()
}

/** The minimum of any evaluation: one pass over the same number of row bytes, and one that lists the positions. */
function goOverBits({ kibibytes, candidates, segments }: Work): void {
  const { kernels } = memory
  let rest = Math.ceil((kibibytes * 1024) / rowBytes)
  for (; rest > 0; rest -= Math.min(rest, rowsAtOnce))
    kernels.andRows(pointers, Math.min(rest, rowsAtOnce), out, rowBytes)
  for (let i = 0; i < segments; i++) {
    const count = Math.ceil(candidates / segments)
    kernels.copy(sparse(count), out, rowBytes)
    kernels.enumerate(out, rowBytes, list, count, 0)
  }
}
const memory = rowMemory()
const rowsAtOnce = 8
const pointers = memory.push(4 * rowsAtOnce)
const out = memory.push(rowBytes)
const list = memory.push((rowBytes * 8 + enumerateSlack) * 2)
for (let i = 0; i < rowsAtOnce; i++) memory.u32[(pointers >>> 2) + i] = memory.allocate()
const sparseRows = new Map<number, number>()
/** A row with `bits` bits, evenly spread. */
function sparse(bits: number): number {
  const known = sparseRows.get(bits)
  if (known !== undefined) return known
  const row = memory.allocate()
  memory.kernels.fill(row, 0, rowBytes)
  for (let i = 0; i < bits; i++) {
    const position = Math.floor((i * rowBytes * 8) / bits)
    memory.u8[row + (position >>> 3)]! |= 1 << (position & 7)
  }
  sparseRows.set(bits, row)
  return row
}

const microseconds = ({ median, low, high }: Spread): string =>
  `${(median / 1000).toFixed(1)} (${(low / 1000).toFixed(1)}–${(high / 1000).toFixed(1)})`

/** Hits of each class among the first `count` tweets. */
function hitsOf(classes: readonly QueryClass[], count: number): ReadonlyMap<string, number> {
  const hits = new Map(classes.map(({ name }) => [name as string, 0]))
  const matchers = classes.map(({ name, filter }) => ({ name, matches: compileFilter(filter).matches }))
  for (const tweet of generateTweets({ count, seed })) {
    for (const { name, matches } of matchers) if (matches(tweet)) hits.set(name, hits.get(name)! + 1)
  }
  return hits
}

interface Measured {
  readonly query: QueryClass
  readonly work: Work
  readonly hits: number
  readonly index: Spread
  readonly bits: Spread
}

async function measure(count: number): Promise<Measured[]> {
  const classes = queryClasses({ count, seed })
  const hits = hitsOf(classes, count)
  // All queries first: the processor clock includes the compiler's threads, and code is compiled for all its callers.
  for (const query of classes) {
    await warmUp(query)
    const begin = performance.now()
    while (performance.now() - begin < untimedMilliseconds) evaluate(query)
  }
  return classes.map((query) => {
    const work = evaluate(query)
    const repeat = (run: () => unknown) => (times: number) => {
      for (let i = 0; i < times; i++) run()
    }
    const times = compare(
      { index: repeat(() => evaluate(query)), bits: repeat(() => goOverBits(work)) },
      runs,
      11,
      processorClock
    )
    return { query, work, hits: hits.get(query.name)!, index: times.get('index')!, bits: times.get('bits')! }
  })
}

function row({ query, work, hits, index, bits }: Measured): string[] {
  return [
    query.title,
    // A read with a limit stops early, so that its hits are not all found.
    query.limit === undefined ? hits.toLocaleString('en') : '–',
    work.candidates.toLocaleString('en'),
    work.certain.toLocaleString('en'),
    String(work.segments),
    work.kibibytes.toFixed(0),
    microseconds(index),
    microseconds(bits)
  ]
}

/** What a class misses of the targets. */
function missedBy({ query, work, hits, index }: Measured): string[] {
  if (!twelve.includes(query.name)) return []
  const inVain = query.limit === undefined ? work.candidates - hits : 0
  return [
    ...(index.median > targets.index * 1000 ? [`${query.title}: index`] : []),
    ...(inVain > targets.inVain + hits / 10 ? [`${query.title}: in vain`] : [])
  ]
}

const verdict = (missed: readonly string[]): string => (missed.length === 0 ? 'met' : `NOT met: ${missed.join(', ')}`)

console.log(`# What the index does for a query, documents apart

${machineLine(machine())}

    node --import tsx bench/index-work.ts --counts ${options.counts} --seed ${seed} --tail ${tail}

From the filter's bounds to the ordinals of candidates, none fetched. Microseconds of processor time, medians of eleven rounds
of ${runs} (quartiles). *Bits alone* is a lower bound: one AND over as many bytes of rows, and a list of as many positions.`)

const results: { readonly count: number; readonly measured: readonly Measured[] }[] = []
for (const count of counts) {
  await growTo(count)
  const measured = await measure(count)
  results.push({ count, measured })
  console.log(`
## ${count.toLocaleString('en')} tweets

${table(['query', 'hits', 'candidates', 'certain', 'segments', 'KiB of rows', 'index, µs', 'bits alone, µs'], measured.map(row))}`)
  if (count !== 1_000_000) continue
  console.log(
    `\n* target, of the twelve classes compared at a million: index ≤ ${targets.index} µs, candidates in vain ≤ ${targets.inVain} and a tenth of the hits: ` +
      verdict(measured.flatMap(missedBy))
  )
}

const [fewer, more] = [results[0]!, results.at(-1)!]
if (fewer !== more) {
  const linear = more.count / fewer.count
  const missed: string[] = []
  const rows = fewer.measured.map(({ query, index: before }, i) => {
    const { index: after } = more.measured[i]!
    const growth = after.median / before.median
    if (twelve.includes(query.name) && growth / linear > targets.growth) missed.push(query.title)
    const times = [before, after].map(({ median }) => (median / 1000).toFixed(1))
    return [query.title, ...times, growth.toFixed(2), (growth / linear).toFixed(2)]
  })
  const titles = [fewer, more].map(({ count }) => `µs, ${count.toLocaleString('en')}`)
  console.log(`
## Growth

*Of linear* is the growth of the time over that of the collection.

${table(['query', ...titles, '×', 'of linear'], rows)}

* target, of the twelve classes: at most ${targets.growth} of linear: ${verdict(missed)}`)
}
console.error(`sum of ordinals ${ordinals}`)
