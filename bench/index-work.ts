/**
 * What does the index cost a query: everything from the filter's bounds to the ordinals of candidates, without fetching
 * documents? How much of that is only for reading the bits, and how many candidates are false positives?
 *
 *     node --import tsx bench/index-work.ts [--count 1000000] [--seed n] [--tail fingerprint]
 *
 * Microseconds of processor time per query, with rows in memory.
 */
import { parseArgs } from 'node:util'
import { rowMemory } from '../src/bloom/kernels/index.ts'
import { compileFilter } from '../src/query/filter.ts'
import type { DocumentSource, SegmentCandidates } from '../src/sharded-bloom/document-index.ts'
import { createShardedIndex } from '../src/sharded-bloom/sharded-index.ts'
import { generateTweets, type Query, queryClasses } from '../src/workload/index.ts'
import { RecordMap } from '../test/support/index-harness.ts'
import { table } from './query-report.ts'
import { banner, compare, processorClock, type Spread } from './spread.ts'
import { twelve } from './twelve.ts'

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    tail: { type: 'string', default: 'bloom' }
  }
})
const count = Number(options.count)
const untimedMilliseconds = 300
const seed = Number(options.seed)
const rowBytes = 8192
const runs = 200

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
for (const tweet of generateTweets({ count, seed })) {
  const bytes = encoder.encode(JSON.stringify(tweet))
  if (!index.addBytes?.(limit, bytes, 0, bytes.length, 'json')) index.add(limit, index.flatten(tweet))
  limit++
  if (limit % 1000 === 0) await index.maintain(limit)
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
    kernels.copy(sparse(Math.ceil(candidates / segments)), out, rowBytes)
    kernels.enumerate(out, rowBytes, list, rowBytes * 8)
  }
}
const memory = rowMemory()
const rowsAtOnce = 8
const pointers = memory.push(4 * rowsAtOnce)
const out = memory.push(rowBytes)
const list = memory.push(rowBytes * 8 * 4)
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

/** For the twelve classes: microseconds, and false positives allowed in addition to a tenth of the hits. */
const targets = { index: 150, inVain: 20 }

const rows: string[][] = []
const missed: string[] = []
const classes = queryClasses({ count, seed })
const hits = new Map(classes.map(({ name }) => [name, 0]))
const matchers = classes.map(({ name, filter }) => ({ name, matches: compileFilter(filter).matches }))
for (const tweet of generateTweets({ count, seed })) {
  for (const { name, matches } of matchers) if (matches(tweet)) hits.set(name, hits.get(name)! + 1)
}
// All queries first: the processor clock includes the compiler's threads, and code is compiled for all its callers.
for (const query of classes) {
  await warmUp(query)
  const begin = performance.now()
  while (performance.now() - begin < untimedMilliseconds) evaluate(query)
}
for (const query of classes) {
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
  // A read with a limit stops early, so that its false positives cannot be counted.
  const matches = query.limit === undefined ? hits.get(query.name)! : work.candidates
  if (twelve.includes(query.name)) {
    if (times.get('index')!.median > targets.index * 1000) missed.push(`${query.title}: index`)
    if (work.candidates - matches > targets.inVain + matches / 10) missed.push(`${query.title}: in vain`)
  }
  rows.push([
    query.title,
    query.limit === undefined ? matches.toLocaleString('en') : '–',
    work.candidates.toLocaleString('en'),
    work.certain.toLocaleString('en'),
    String(work.segments),
    work.kibibytes.toFixed(0),
    microseconds(times.get('index')!),
    microseconds(times.get('bits')!)
  ])
}
console.log(`${banner()}, ${count.toLocaleString('en')} tweets, tail '${tail}'; sum of ordinals ${ordinals}\n`)
console.log(
  table(['query', 'hits', 'candidates', 'certain', 'segments', 'KiB of rows', 'index, µs', 'bits alone, µs'], rows)
)
console.log(
  `\ntarget, of the ${twelve.length} classes compared at a million: index ≤ ${targets.index} µs, candidates in vain ≤ ${targets.inVain} and a tenth of the hits: ` +
    (missed.length === 0 ? 'met' : `NOT met: ${missed.join(', ')}`)
)
