/**
 * Which hash? Nanoseconds per hash of a string or number, and per derivation of row numbers.
 * Run: node --import tsx bench/hash.ts
 */
import { loadHasher, rowNumbers } from '../src/bloom/hash.ts'
import { banner, compare, type Spread } from './spread.ts'

const murmur = await loadHasher('murmur')
const farmhash = await loadHasher('farmhash')

/** Enough values that none stays in a register, and few enough that they stay in the cache. */
const VALUES = 1024

function strings(length: number): string[] {
  return Array.from({ length: VALUES }, (_, i) => {
    const text = `${(i * 2654435761) >>> 0} the quick brown fox jumps over the lazy dog `.repeat(4).slice(0, length)
    // A flat copy: V8 would read a slice through its parent.
    return Buffer.from(text, 'latin1').toString('latin1')
  })
}

function hashStrings(hasher: typeof murmur, texts: readonly string[]) {
  return (operations: number) => {
    let sum = 0
    for (let i = 0; i < operations; i++) {
      hasher.hashString(1, 2, 3, texts[i & (VALUES - 1)] as string)
      sum ^= hasher.lo
    }
    return sum
  }
}

function hashNumbers(hasher: typeof murmur, numbers: Float64Array) {
  return (operations: number) => {
    let sum = 0
    for (let i = 0; i < operations; i++) {
      hasher.hashNumber(1, 2, 2, numbers[i & (VALUES - 1)] as number)
      sum ^= hasher.lo
    }
    return sum
  }
}

const cell = ({ median, low, high }: Spread | undefined = { median: Number.NaN, low: 0, high: 0 }) =>
  `${median.toFixed(1)} (${low.toFixed(1)}–${high.toFixed(1)})`

console.log(`${banner()}\n\nns per hash, median (quartiles) of 11 interleaved rounds of 300,000\n`)
console.log('| value | murmur | npm farmhash |')
console.log('| --- | --- | --- |')

for (const length of [5, 26, 140]) {
  const texts = strings(length)
  const result = compare({ murmur: hashStrings(murmur, texts), farmhash: hashStrings(farmhash, texts) }, 300_000)
  console.log(`| string of ${length} | ${cell(result.get('murmur'))} | ${cell(result.get('farmhash'))} |`)
}
for (const [name, make] of [
  ['integer', (i: number) => i * 1_000_003],
  ['fraction', (i: number) => i / 7]
] as const) {
  const numbers = Float64Array.from({ length: VALUES }, (_, i) => make(i))
  const result = compare({ murmur: hashNumbers(murmur, numbers), farmhash: hashNumbers(farmhash, numbers) }, 300_000)
  console.log(`| ${name} | ${cell(result.get('murmur'))} | ${cell(result.get('farmhash'))} |`)
}

const rows = new Int32Array(8)
const derive = (operations: number) => {
  let sum = 0
  for (let i = 0; i < operations; i++) {
    rowNumbers(i * 77_777, i * 999_999, 3008, 8, rows)
    sum += rows[3] as number
  }
  return sum
}
console.log(`\nrow numbers, 8 of 3,008: ${cell(compare({ derive }, 300_000).get('derive'))} ns`)
