/**
 * How do the two tails of a segment compare in bytes, false positives, and time to build and to query?
 *
 *     node --import tsx bench/tails.ts [--count 200000] [--seed n]
 *
 * Tweets are indexed from their bytes. Processor time is measured for adding a document, for maintenance between
 * batches (mostly sealing), and for a query for one value over all segments, with rows in memory.
 */
import { parseArgs } from 'node:util'
import { compileFilter } from '../src/query/filter.ts'
import type { DocumentSource, IndexStats, SegmentCandidates } from '../src/sharded-bloom/document-index.ts'
import { createShardedIndex } from '../src/sharded-bloom/sharded-index.ts'
import { generateTweets } from '../src/workload/index.ts'
import { RecordMap } from '../test/support/index-harness.ts'
import { table } from './query-report.ts'
import { banner } from './spread.ts'

const { values: options } = parseArgs({
  options: { count: { type: 'string', default: '200000' }, seed: { type: 'string', default: '1' } }
})
const count = Number(options.count)
const seed = Number(options.seed)
const batch = 1000
/** Number of values whose queries are timed. */
const timed = 400
const rounds = 20
/** Number of absent values queried; many, since a code that collides finds all documents of another pair. */
const probes = 8000

const documents: DocumentSource = {
  async *read(from, to) {
    let ordinal = from
    for (const tweet of generateTweets({ count: to - from, seed, start: from })) yield [ordinal++, tweet]
  }
}

interface Measured {
  readonly stats: IndexStats
  /** The four times are microseconds. */
  readonly add: number
  readonly maintain: number
  readonly absent: number
  readonly present: number
  /** Candidates per value that no document has. */
  readonly inVain: number
}

const fail = (message: string): never => {
  throw new Error(message)
}

function processorMicroseconds(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

async function measure(tail: 'bloom' | 'fingerprint'): Promise<Measured> {
  const index = createShardedIndex({ store: new RecordMap(), documents, onDamage: fail, tail })
  await index.open(0, 0)
  const encoder = new TextEncoder()
  const names: string[] = []
  let add = 0
  let maintain = 0
  let limit = 0
  let pending: Uint8Array[] = []
  const flush = async (): Promise<void> => {
    const begin = processorMicroseconds()
    for (const bytes of pending) {
      if (!index.addBytes?.(limit, bytes, 0, bytes.length, 'json')) {
        index.add(limit, index.flatten(JSON.parse(new TextDecoder().decode(bytes))))
      }
      limit++
    }
    const added = processorMicroseconds()
    await index.maintain(limit)
    add += added - begin
    maintain += processorMicroseconds() - added
    pending = []
  }
  for (const tweet of generateTweets({ count, seed })) {
    pending.push(encoder.encode(JSON.stringify(tweet)))
    if (names.length < timed && pending.length === 1) names.push(tweet.id_str)
    if (pending.length === batch) await flush()
  }
  await flush()
  /** Returns the number of candidates per value. */
  const ask = async (values: readonly string[]): Promise<number> => {
    let candidates = 0
    for (const value of values) {
      const { bounds } = compileFilter({ id_str: value })
      const view = index.capture(limit)
      for (let i = 0; i < view.segmentCount; i++) {
        i += view.skip?.(i, bounds, 1) ?? 0
        if (i >= view.segmentCount) break
        const found = view.evaluate(i, bounds)
        candidates += ((found instanceof Promise ? await found : found) as SegmentCandidates).upperCount
      }
      view.close()
    }
    return candidates / values.length
  }
  const microsecondsOf = async (values: readonly string[]): Promise<number> => {
    // Loads the rows into memory.
    await ask(values)
    const begin = processorMicroseconds()
    for (let round = 0; round < rounds; round++) await ask(values)
    return (processorMicroseconds() - begin) / values.length / rounds
  }
  const nobody = Array.from({ length: probes }, (_, i) => `nobody ${i}`)
  const inVain = await ask(nobody)
  const absent = await microsecondsOf(nobody.slice(0, timed))
  const present = await microsecondsOf(names)
  const stats = index.stats()
  await index.close(limit)
  return {
    stats,
    add: add / count,
    maintain: maintain / count,
    absent,
    present,
    inVain
  }
}

const rows: string[][] = []
for (const tail of ['bloom', 'fingerprint'] as const) {
  const { stats, add, maintain, absent, present, inVain } = await measure(tail)
  const { hashedRows, upperLevel, fingerprints, total } = stats.bytes
  rows.push([
    tail,
    ((hashedRows + upperLevel + fingerprints) / count).toFixed(1),
    (total / count).toFixed(1),
    ((inVain * 1e6) / count).toFixed(2),
    add.toFixed(1),
    maintain.toFixed(1),
    absent.toFixed(1),
    present.toFixed(1)
  ])
}
console.log(`${banner()}, ${count.toLocaleString('en')} tweets\n`)
const heads = ['tail', 'B/doc', 'index, B/doc', 'in vain/M', 'add, µs', 'maintain, µs', 'absent, µs', 'unique, µs']
console.log(table(heads, rows))
