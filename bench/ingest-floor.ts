/**
 * How fast could an import on two cores possibly be? Measures each step that an import which stores and indexes
 * everything cannot do without, on one thread, in a loop that does nothing else, and classic-level storing the
 * ready-made strings. By how much does the sum, divided perfectly between two cores, meet or miss the targets?
 *
 *     npm run build && node --import tsx bench/ingest-floor.ts [--count 50000 --rounds 9]
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { crc32 } from 'node:zlib'
import { loadHasher } from '../src/bloom/hash.ts'
import { rowMemory } from '../src/bloom/kernels/index.ts'
import { compressChunk } from '../src/lsm/format/lz4/lz4.ts'
import { jsonWriter } from '../src/sharded-bloom/byte-scan/json-writer.ts'
import { Scanner } from '../src/sharded-bloom/byte-scan/scanner.ts'
import { instantiateScanner } from '../src/sharded-bloom/byte-scan/scanner-module.ts'
import { Flattener } from '../src/sharded-bloom/pairs/flatten.ts'
import { PairHash } from '../src/sharded-bloom/pairs/pair-hash.ts'
import { geometryOf } from '../src/sharded-bloom/segment/geometry.ts'
import { OpenSegment } from '../src/sharded-bloom/segment/open-segment.ts'
import { Sampler } from '../src/sharded-bloom/tune/sampler.ts'
import { chooseParameters } from '../src/sharded-bloom/tune/segment-parameters.ts'
import { generateTweets, type Tweet } from '../src/workload/index.ts'
import { prepareImport } from './import-once.ts'
import { machine } from './machine.ts'
import { header, table } from './query-report.ts'
import { spread } from './statistics.ts'

const { values: options } = parseArgs({
  options: { count: { type: 'string', default: '50000' }, rounds: { type: 'string', default: '9' } }
})
const count = Number(options.count)
const rounds = Number(options.rounds)
const cores = 2
const targets = { lines: 1.3, objects: 0.7 }

const tweets: Tweet[] = [...generateTweets({ count, seed: 1 })]
const bytes = Buffer.from(tweets.map((tweet) => JSON.stringify(tweet)).join(''))
const records: Uint8Array[] = []
let end = 0
for (const tweet of tweets) {
  const begin = end
  end += Buffer.byteLength(JSON.stringify(tweet))
  records.push(bytes.subarray(begin, end))
}

const hasher = await loadHasher('murmur')
const flattener = new Flattener(hasher, { lo: 1, hi: 2 })
const sampler = new Sampler()
for (const tweet of tweets.slice(0, 8192)) sampler.observe(flattener.flatten(tweet))
const pairHash = new PairHash(hasher, (path) => flattener.seedOf(path))
const parameters = chooseParameters(sampler, {}, 65_536)
const known = new OpenSegment(rowMemory(), geometryOf(65_536), pairHash, 0, parameters)
const scannerModule = instantiateScanner()
const writer = jsonWriter()
if (scannerModule === undefined || writer === undefined) throw new Error('no memory for a scanner')
const scanner = new Scanner(scannerModule, (path) => flattener.seedOf(path))
for (const tweet of tweets) {
  const flat = flattener.flatten(tweet)
  known.add(flat)
  scanner.learn([...flat.shape.facts()].map(({ node }) => node.path))
}

const directory = mkdtempSync(join(tmpdir(), 'petaldb-floor-'))
process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
const log = openSync(join(directory, 'log'), 'w')
const blockBytes = 4096
const batchBytes = 1 << 20

const steps = {
  'JSON.stringify and encoding': () => {
    for (const tweet of tweets) Buffer.from(JSON.stringify(tweet))
  },
  "object to bytes, the library's way": () => {
    for (const tweet of tweets) writer.write(tweet)
  },
  'the pass over the bytes: find, hash and place every pair': () => {
    for (const record of records) scanner.scan(known, record, 0, record.length, 'json')
  },
  'checksum, and writing to the log': () => {
    for (let at = 0; at < bytes.length; at += batchBytes) {
      const batch = bytes.subarray(at, at + batchBytes)
      crc32(batch)
      writeSync(log, batch, 0, batch.length, at)
    }
  },
  'LZ4, in blocks of 4 KiB': () => {
    for (let at = 0; at < bytes.length; at += blockBytes) {
      compressChunk(bytes, at, Math.min(at + blockBytes, bytes.length), blockBytes)
    }
  }
} as const
type Step = keyof typeof steps

const times = new Map<Step, number[]>()
const level = prepareImport('classic-level', { count, seed: 1, batch: 1000 })
const wall: number[] = []
const processor: number[] = []
for (let round = -2; round < rounds; round++) {
  const { acknowledgedMilliseconds, processorMilliseconds } = await level()
  if (round >= 0) {
    wall.push((acknowledgedMilliseconds * 1000) / count)
    processor.push((processorMilliseconds * 1000) / count)
  }
  for (const [name, step] of Object.entries(steps) as [Step, () => void][]) {
    const begin = performance.now()
    step()
    if (round >= 0) times.set(name, [...(times.get(name) ?? []), ((performance.now() - begin) * 1000) / count])
  }
}
closeSync(log)

const least = (name: Step): number => spread(times.get(name) ?? []).min
const kept = least('checksum, and writing to the log') + least('LZ4, in blocks of 4 KiB')
const pass = least('the pass over the bytes: find, hash and place every pair')
const floors = { lines: pass + kept, objects: least("object to bytes, the library's way") + pass + kept }
const perDocument = spread(wall).median

console.log('# What an import cannot do without\n')
console.log(header(machine(), `node --import tsx bench/ingest-floor.ts --count ${count} --rounds ${rounds}`))
console.log('\nMicroseconds of one thread per tweet, least of all rounds.\n')
console.log(
  table(
    ['step', 'µs'],
    [...times.keys()].map((name) => [name, least(name).toFixed(2)])
  )
)
console.log(
  `\nclassic-level: a string every ${perDocument.toFixed(2)} µs, ${spread(processor).median.toFixed(2)} µs of the processor.\n`
)
console.log(
  table(
    [
      'import of',
      'target, × classic-level',
      `µs of ${cores} cores that leaves`,
      'µs of these steps',
      'at best, × classic-level'
    ],
    (['lines', 'objects'] as const).map((form) => [
      form,
      targets[form].toFixed(1),
      ((cores * perDocument) / targets[form]).toFixed(2),
      floors[form].toFixed(2),
      ((cores * perDocument) / floors[form]).toFixed(2)
    ])
  )
)
