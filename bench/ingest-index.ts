/**
 * Where does indexing an inserted document spend its time? Microseconds per generated tweet for every step, from
 * objects and from bytes.
 *
 *     node --import tsx bench/ingest-index.ts [--count n] [--rounds n] [--seed n] [--only step]
 */
import { parseArgs } from 'node:util'
import { loadHasher } from '../src/bloom/hash.ts'
import { rowMemory } from '../src/bloom/kernels/index.ts'
import { ByteIngest } from '../src/sharded-bloom/byte-scan/byte-ingest.ts'
import { jsonWriter } from '../src/sharded-bloom/byte-scan/json-writer.ts'
import { isPlainJson } from '../src/sharded-bloom/byte-scan/plain.ts'
import { Scanner } from '../src/sharded-bloom/byte-scan/scanner.ts'
import { instantiateScanner } from '../src/sharded-bloom/byte-scan/scanner-module.ts'
import { Flattener } from '../src/sharded-bloom/pairs/flatten.ts'
import { PairHash } from '../src/sharded-bloom/pairs/pair-hash.ts'
import { geometryOf } from '../src/sharded-bloom/segment/geometry.ts'
import { OpenSegment } from '../src/sharded-bloom/segment/open-segment.ts'
import { Sampler } from '../src/sharded-bloom/tune/sampler.ts'
import { chooseParameters } from '../src/sharded-bloom/tune/segment-parameters.ts'
import { generateTweets, type Tweet } from '../src/workload/index.ts'
import { banner, type Spread, spreadOf } from './spread.ts'

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '30000' },
    rounds: { type: 'string', default: '11' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' }
  }
})
const count = Number(options.count)
const rounds = Number(options.rounds)

const hasher = await loadHasher('murmur')
const flattener = new Flattener(hasher, { lo: 1, hi: 2 })
const pairHash = new PairHash(hasher, (path) => flattener.seedOf(path))
const tweets: Tweet[] = [...generateTweets({ count, seed: Number(options.seed) })]
const encoder = new TextEncoder()
const texts = tweets.map((tweet) => JSON.stringify(tweet))
const bytes = encoder.encode(texts.join(''))
/** Contiguous in memory, as in a batch. */
const records: Uint8Array[] = []
for (let i = 0, offset = 0; i < texts.length; i++) {
  const length = Buffer.byteLength(texts[i]!)
  records.push(bytes.subarray(offset, offset + length))
  offset += length
}

const sampler = new Sampler()
for (const tweet of tweets.slice(0, 8192)) sampler.observe(flattener.flatten(tweet))
const parameters = chooseParameters(sampler, {}, 65_536)

function withSegment(run: (segment: OpenSegment) => void): void {
  const segment = new OpenSegment(rowMemory(), geometryOf(65_536), pairHash, 0, parameters)
  run(segment)
  segment.free()
}

const scannerModule = instantiateScanner()
if (scannerModule === undefined) throw new Error('no memory for a scanner')
const scanner = new Scanner(scannerModule, (path) => flattener.seedOf(path))
// As in practice, where a new segment soon knows the paths and facts of its documents.
const known = new OpenSegment(rowMemory(), geometryOf(65_536), pairHash, 0, parameters)
for (const tweet of tweets) {
  const flat = flattener.flatten(tweet)
  known.add(flat)
  scanner.learn([...flat.shape.facts()].map(({ node }) => node.path))
}
const ingest = new ByteIngest((path) => flattener.seedOf(path))
const buffer = new Uint8Array(1 << 20)

const writer = jsonWriter()
/** Does in one step what isPlainJson(), JSON.stringify() and encoding do in three. */
function written(tweet: Tweet): Uint8Array {
  const record = writer?.write(tweet)
  if (record instanceof Uint8Array) return record
  throw new Error('a tweet is plain')
}

let handled = 0
const steps: Readonly<Record<string, () => void>> = {
  flatten: () => {
    for (const tweet of tweets) flattener.flatten(tweet)
  },
  'flatten and add': () => {
    withSegment((segment) => {
      for (const tweet of tweets) segment.add(flattener.flatten(tweet))
    })
  },
  isPlainJson: () => {
    for (const tweet of tweets) if (!isPlainJson(tweet)) throw new Error('a tweet is plain')
  },
  'JSON.stringify': () => {
    for (const tweet of tweets) JSON.stringify(tweet)
  },
  encode: () => {
    for (const text of texts) encoder.encodeInto(text, buffer)
  },
  'object to bytes': () => {
    for (const tweet of tweets) written(tweet)
  },
  scan: () => {
    for (const record of records) scanner.scan(known, record, 0, record.length, 'json')
  },
  'scan and add': () => {
    withSegment((segment) => {
      for (let i = 0; i < records.length; i++) {
        const record = records[i]!
        if (ingest.add(segment, record, 0, record.length, 'json')) handled++
        else {
          const flat = flattener.flatten(tweets[i]!)
          segment.add(flat)
          ingest.learn(flat)
        }
      }
    })
  },
  'scan while writing, and add': () => {
    withSegment((segment) => {
      for (const tweet of tweets) {
        const record = ingest.write(segment, tweet, false)
        if (!(record instanceof Uint8Array)) written(tweet)
        else if (ingest.add(segment, record, 0, record.length, 'json')) continue
        const flat = flattener.flatten(tweet)
        segment.add(flat)
        ingest.learn(flat)
      }
    })
  },
  'all of it by bytes': () => {
    withSegment((segment) => {
      for (const tweet of tweets) {
        const record = written(tweet)
        if (ingest.add(segment, record, 0, record.length, 'json')) continue
        const flat = flattener.flatten(tweet)
        segment.add(flat)
        ingest.learn(flat)
      }
    })
  }
}

const times = new Map<string, number[]>()
let runs = 0
for (let round = -2; round < rounds; round++) {
  for (const [name, step] of Object.entries(steps)) {
    if (options.only !== undefined && options.only !== name) continue
    const start = process.hrtime.bigint()
    step()
    const microseconds = Number(process.hrtime.bigint() - start) / 1000 / count
    if (name === 'scan and add') runs++
    if (round < 0) continue
    const list = times.get(name) ?? []
    list.push(microseconds)
    times.set(name, list)
  }
}

const cell = ({ median, low, high }: Spread): string => `${median.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`
const size = bytes.length / count
console.log(banner())
console.log(
  `${count} tweets of ${size.toFixed(0)} bytes, P = ${parameters.shards}, ${parameters.privatePairs.length} private values; ` +
    `${((100 * handled) / (runs * count)).toFixed(2)} % scanned\n`
)
console.log(`| step | µs per tweet, median (quartiles) of ${rounds} rounds |\n| --- | --- |`)
for (const [name, list] of times) console.log(`| ${name} | ${cell(spreadOf(list))} |`)
