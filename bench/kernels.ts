/**
 * How much do the WebAssembly kernels gain? Combines rows of 65,536 bits with kernels, plain JavaScript and npm
 * `bitset`. Also measures the speed of LZ4 on blocks of tweets.
 * Run: node --import tsx bench/kernels.ts
 */
import NpmBitSet from 'bitset'
import { popcount32 } from '../src/bloom/bit-set.ts'
import { FRAME_BYTES, rowMemory } from '../src/bloom/kernels/index.ts'
import { compressChunk, decompressInPlace } from '../src/lsm/format/lz4/lz4.ts'
import { generateTweets } from '../src/workload/tweets.ts'
import { banner, compare, processorClock, type Spread } from './spread.ts'

const ROWS = 8
const WORDS = FRAME_BYTES / 4
/** Sets of eight rows used in turn, so that rows come from the second-level cache and not from the first. */
const SETS = 8

const memory = rowMemory()
const { kernels, u8, u32 } = memory

const pointers = memory.push(SETS * ROWS * 4)
const out = memory.allocate()
const list = memory.push(WORDS * 32 * 4)
for (let i = 0; i < SETS * ROWS; i++) {
  const frame = memory.allocate()
  u32[(pointers >> 2) + i] = frame
  for (let byte = 0; byte < FRAME_BYTES; byte++) u8[frame + byte] = Math.random() * 256
}
const addresses = Array.from(u32.subarray(pointers >> 2, (pointers >> 2) + SETS * ROWS))
const arrays = addresses.map((address) => Uint32Array.from(u32.subarray(address >> 2, (address >> 2) + WORDS)))
const bitsets = addresses.map((address) => new NpmBitSet(u8.slice(address, address + FRAME_BYTES)))
const result = new Uint32Array(WORDS)

const setOf = (i: number) => (i % SETS) * ROWS

function plainAnd(first: number): void {
  const [a, b, c, d, e, f, g, h] = arrays.slice(first, first + ROWS) as Uint32Array[]
  if (!a || !b || !c || !d || !e || !f || !g || !h) return
  for (let i = 0; i < WORDS; i++) {
    result[i] =
      (a[i] as number) &
      (b[i] as number) &
      (c[i] as number) &
      (d[i] as number) &
      (e[i] as number) &
      (f[i] as number) &
      (g[i] as number) &
      (h[i] as number)
  }
}

function plainPopcount(words: Uint32Array): number {
  let total = 0
  for (let i = 0; i < WORDS; i++) total += popcount32(words[i] as number)
  return total
}

function bitsetAnd(first: number) {
  let set = bitsets[first] as (typeof bitsets)[number]
  for (let i = first + 1; i < first + ROWS; i++) set = set.and(bitsets[i] as (typeof bitsets)[number])
  return set
}

function repeat(operation: (i: number) => unknown) {
  return (operations: number) => {
    let last: unknown
    for (let i = 0; i < operations; i++) last = operation(i)
    return last
  }
}

const microseconds = ({ median, low, high }: Spread | undefined = { median: Number.NaN, low: 0, high: 0 }) =>
  `${(median / 1000).toFixed(2)} (${(low / 1000).toFixed(2)}–${(high / 1000).toFixed(2)})`

console.log(
  `${banner()}\n\nµs per operation on rows of 65,536 bits, median (quartiles) of 11 interleaved rounds of 500\n`
)
console.log('| operation | kernels | plain JavaScript | npm bitset |')
console.log('| --- | --- | --- | --- |')

const report = (name: string, contenders: Parameters<typeof compare>[0]) => {
  const times = compare(contenders, 500)
  const cells = ['kernels', 'plain', 'bitset'].map((key) => (times.has(key) ? microseconds(times.get(key)) : '–'))
  console.log(`| ${name} | ${cells.join(' | ')} |`)
  return times.get('kernels')?.median ?? Number.NaN
}

const and = report('AND of 8 rows', {
  kernels: repeat((i) => kernels.andRows(pointers + setOf(i) * 4, ROWS, out, FRAME_BYTES)),
  plain: repeat((i) => plainAnd(setOf(i))),
  bitset: repeat((i) => bitsetAnd(setOf(i)))
})
report('AND of 8 rows and count', {
  kernels: repeat((i) => {
    kernels.andRows(pointers + setOf(i) * 4, ROWS, out, FRAME_BYTES)
    return kernels.popcount(out, FRAME_BYTES)
  }),
  plain: repeat((i) => {
    plainAnd(setOf(i))
    return plainPopcount(result)
  }),
  bitset: repeat((i) => bitsetAnd(setOf(i)).cardinality())
})
report('AND of 8 rows and list the members (1/256)', {
  kernels: repeat((i) => {
    kernels.andRows(pointers + setOf(i) * 4, ROWS, out, FRAME_BYTES)
    return kernels.enumerate(out, FRAME_BYTES, list, 65_536, 0)
  }),
  plain: repeat((i) => {
    plainAnd(setOf(i))
    const members: number[] = []
    for (let word = 0; word < WORDS; word++) {
      for (let rest = result[word] as number; rest !== 0; rest &= rest - 1) {
        members.push(word * 32 + 31 - Math.clz32(rest & -rest))
      }
    }
    return members
  }),
  bitset: repeat((i) => bitsetAnd(setOf(i)).toArray())
})
report('count one row', {
  kernels: repeat((i) => kernels.popcount(addresses[i % addresses.length] as number, FRAME_BYTES)),
  plain: repeat((i) => plainPopcount(arrays[i % addresses.length] as Uint32Array)),
  bitset: repeat((i) => (bitsets[i % addresses.length] as (typeof bitsets)[number]).cardinality())
})

console.log(`\nAND of 8 rows reads ${((ROWS * FRAME_BYTES) / and).toFixed(0)} GB/s`)
ingest(3072)
ingest(512)
lz4(4096)

/** Times transposing 65,536 signatures of P bits into rows. */
function ingest(shards: number): void {
  const signatureBytes = shards / 8
  const signatures = memory.push(64 * signatureBytes)
  const rows = memory.push(shards * 4)
  const frames = Array.from({ length: shards }, () => memory.allocate())
  u32.set(frames, rows >> 2)
  for (let i = 0; i < 64 * signatureBytes; i++) u8[signatures + i] = Math.random() * 256
  const segment = (blocks: number) => {
    for (let block = 0; block < blocks; block++) {
      kernels.transposeBlock(signatures, signatureBytes, rows, 1, block & 1023)
    }
  }
  const times = compare({ segment }, 1024, 5).get('segment')
  console.log(
    `transposing signatures into ${shards} rows: ${((times?.median ?? Number.NaN) / 64).toFixed(0)} ns a document`
  )
  for (const frame of frames) memory.free(frame)
  memory.pop(signatures)
}

/** Times LZ4 on blocks of tweets as JSON, as in a table. */
function lz4(blockBytes: number): void {
  const blocks: Buffer[] = []
  let lines = ''
  for (const tweet of generateTweets({ count: 8000, seed: 1 })) {
    lines += JSON.stringify(tweet)
    if (lines.length < blockBytes) continue
    blocks.push(Buffer.from(lines))
    lines = ''
  }
  const compressed = blocks.map((block) => Buffer.from(compressChunk(block, 0, block.length, block.length) ?? block))
  const rawBytes = blocks.reduce((sum, { length }) => sum + length, 0)
  const bytes = compressed.reduce((sum, { length }) => sum + length, 0)
  const blockOf = (i: number) => blocks[i % blocks.length] as Buffer
  const times = compare(
    {
      compress: repeat((i) => compressChunk(blockOf(i), 0, blockOf(i).length, blockBytes * 2)),
      decompress: repeat((i) => {
        const packed = compressed[i % blocks.length] as Buffer
        return decompressInPlace(packed, 0, packed.length, blockOf(i).length)
      })
    },
    blocks.length,
    11,
    processorClock
  )
  const speed = (name: string) => (rawBytes / blocks.length / (times.get(name)?.median ?? Number.NaN)) * 1000
  console.log(
    `LZ4 of blocks of ${blockBytes} bytes of tweets: ${speed('compress').toFixed(0)} MB/s there, ` +
      `${speed('decompress').toFixed(0)} MB/s back, to ${(bytes / rawBytes).toFixed(3)} of their size`
  )
}
