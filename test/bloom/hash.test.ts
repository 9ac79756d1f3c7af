/** Properties of the hash: seeds, tags, corner values, avalanche, collisions. hash-golden pins its exact values. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher, loadHasher, type PairHasher } from '../../src/bloom/hash.ts'
import { PetalError } from '../../src/model/errors.ts'
import { seededRandom } from './random.ts'

const random = seededRandom()

const sixtyFour = (hasher: PairHasher) => `${hasher.hi}:${hasher.lo}`
const ofString = (hasher: PairHasher, text: string, tag = 3, lo = 1, hi = 2) => {
  hasher.hashString(lo, hi, tag, text)
  return sixtyFour(hasher)
}
const ofNumber = (hasher: PairHasher, value: number, tag = 2, lo = 1, hi = 2) => {
  hasher.hashNumber(lo, hi, tag, value)
  return sixtyFour(hasher)
}

for (const name of ['murmur', 'farmhash'] as const) {
  test(`${name}: the result is two int32 halves, and name is the name of the hash`, async () => {
    const hasher = await loadHasher(name)
    assert.is(hasher.name, name)
    for (let i = 0; i < 1000; i++) {
      if ((i & 1) === 0) hasher.hashString(random.next(), random.next(), i, `value ${i}`)
      else hasher.hashNumber(random.next(), random.next(), i, i / 3)
      assert.is(hasher.lo, hasher.lo | 0)
      assert.is(hasher.hi, hasher.hi | 0)
    }
  })

  test(`${name}: the hash depends on both seed halves, the tag and every unit of the text`, async () => {
    const hasher = await loadHasher(name)
    const seen = new Set<string>()
    const texts = [
      '',
      '\0',
      '\0\0',
      'a',
      'b',
      'ab',
      'ba',
      'abc',
      'abcd',
      'abcde',
      'abcd\0',
      'é',
      'e\u0301',
      '😀',
      '\ud83d',
      '日本'
    ]
    const contexts = [
      [1, 2, 3],
      [2, 2, 3],
      [1, 3, 3],
      [1, 2, 4],
      [2, 1, 3]
    ] as const
    for (const [lo, hi, tag] of contexts) for (const text of texts) seen.add(ofString(hasher, text, tag, lo, hi))
    assert.is(seen.size, contexts.length * texts.length)
    const long = 'x'.repeat(5000)
    assert.is.not(ofString(hasher, `${long}a`), ofString(hasher, `${long}b`))
    assert.is.not(ofString(hasher, `a${long}`), ofString(hasher, `b${long}`))
  })

  test(`${name}: equal strings have equal hashes, however they are represented`, async () => {
    const hasher = await loadHasher(name)
    const plain = 'the quick brown fox jumps'
    assert.is(ofString(hasher, `${plain.slice(0, 7)}${plain.slice(7)}`), ofString(hasher, plain))
    assert.is(ofString(hasher, `日${plain}`.slice(1)), ofString(hasher, plain), 'two-byte representation')
  })

  test(`${name}: −0 and 0 have the same hash, so have all NaNs, and other doubles have different ones`, async () => {
    const hasher = await loadHasher(name)
    assert.is(ofNumber(hasher, -0), ofNumber(hasher, 0))
    const payload = new Float64Array(Uint32Array.of(1, 0xfff80001).buffer)[0] as number
    assert.is(ofNumber(hasher, payload), ofNumber(hasher, Number.NaN))
    const values = [
      0,
      1,
      -1,
      0.1,
      0.1 + Number.EPSILON / 8,
      5e-324,
      1e308,
      Infinity,
      -Infinity,
      NaN,
      2 ** 53,
      2 ** 53 - 1
    ]
    assert.is(new Set(values.map((value) => ofNumber(hasher, value))).size, values.length)
  })

  test(`${name}: flipping any bit of text, number, seed or tag flips every bit of the result half the time`, async () => {
    const hasher = await loadHasher(name)
    const rounds = 2000
    const inputs: [string, number, (bit: number, units: number[], seed: number[]) => void][] = [
      ['a bit of a 1-unit string', 16, (bit, units) => flip(units, bit, 1)],
      ['a bit of a 3-unit string', 48, (bit, units) => flip(units, bit, 3)],
      ['a bit of a 6-unit string', 96, (bit, units) => flip(units, bit, 6)],
      ['a bit of the seed', 64, (bit, _units, seed) => flipSeed(seed, bit)],
      ['a bit of the tag', 8, (bit, _units, seed) => flipSeed(seed, bit + 64)]
    ]
    // FarmHash gets UTF-8, in which a flipped bit may turn one lone surrogate into another: stay below them.
    const unitMask = name === 'murmur' ? 0xffff : 0x3fff
    for (const [what, bits, change] of inputs) {
      const units = Number(/(\d)-unit/.exec(what)?.[1] ?? 5)
      for (let bit = 0; bit < bits; bit++) {
        if (/unit/.test(what) && ((1 << (bit & 15)) & unitMask) === 0) continue
        const flips = new Uint32Array(64)
        for (let round = 0; round < rounds; round++) {
          const text = Array.from({ length: units }, () => random.next() & unitMask)
          const seed = [random.next(), random.next(), random.below(256)]
          const [lo, hi] = hashUnits(hasher, text, seed)
          change(bit, text, seed)
          const [lo2, hi2] = hashUnits(hasher, text, seed)
          count(flips, lo ^ lo2, hi ^ hi2)
        }
        assertHalf(flips, rounds, `${what}, ${bit}`)
      }
    }
    const words = new Int32Array(2)
    const double = new Float64Array(words.buffer)
    for (let bit = 0; bit < 64; bit++) {
      const flips = new Uint32Array(64)
      for (let round = 0; round < rounds; round++) {
        // Integers and fractions of ordinary size; sign and exponent bits are flipped like any others.
        double[0] = (round & 1) === 0 ? random.below(1e6) + 1 : random.next() / 7 + 0.01
        hasher.hashNumber(1, 2, 2, double[0])
        const { lo, hi } = hasher
        words[bit >> 5] = (words[bit >> 5] as number) ^ (1 << (bit & 31))
        hasher.hashNumber(1, 2, 2, double[0])
        count(flips, lo ^ hasher.lo, hi ^ hasher.hi)
      }
      assertHalf(flips, rounds, `a bit of a double, ${bit}`)
    }
    for (let bit = 0; bit < 64; bit++) {
      const flips = new Uint32Array(64)
      for (let round = 0; round < rounds; round++) {
        const seed = [random.next(), random.next()] as [number, number]
        hasher.hashNumber(...seed, 2, round)
        const { lo, hi } = hasher
        flipSeed(seed, bit)
        hasher.hashNumber(...seed, 2, round)
        count(flips, lo ^ hasher.lo, hi ^ hasher.hi)
      }
      assertHalf(flips, rounds, `a bit of the seed of a number, ${bit}`)
    }
  })

  test(`${name}: no two of a million similar values have the same hash`, async () => {
    const hasher = await loadHasher(name)
    const total = name === 'murmur' ? 1_000_000 : 200_000
    const patterns: Record<string, (i: number) => string | number> = {
      'user names': (i) => `user_${i}`,
      'decimal ids': (i) => String(1_500_000_000_000_000_000n + BigInt(i)),
      times: (i) => new Date(1_600_000_000_000 + i * 1000).toISOString(),
      'bits of text': (i) => i.toString(2).padStart(20, '0').replaceAll('0', 'a').replaceAll('1', 'b'),
      'numbers with high units': (i) => String.fromCharCode(i & 1023, 0x4e00 + (i >> 10), 7, 0x8000 | (i & 255)),
      integers: (i) => i,
      hundredths: (i) => i / 100
    }
    for (const [pattern, make] of Object.entries(patterns)) {
      const hashes = new BigUint64Array(total)
      const words = new Int32Array(hashes.buffer)
      for (let i = 0; i < total; i++) {
        const value = make(i)
        if (typeof value === 'string') hasher.hashString(1, 2, 3, value)
        else hasher.hashNumber(1, 2, 2, value)
        words[2 * i] = hasher.lo
        words[2 * i + 1] = hasher.hi
      }
      hashes.sort()
      let collisions = 0
      for (let i = 1; i < total; i++) if (hashes[i] === hashes[i - 1]) collisions++
      assert.is(collisions, 0, pattern)
    }
  })
}

test('murmur: lone surrogates have different hashes', () => {
  const hasher = createHasher('murmur')
  const seen = new Set<string>()
  for (let unit = 0xd800; unit < 0xe000; unit++) seen.add(ofString(hasher, String.fromCharCode(unit)))
  assert.is(seen.size, 0x800)
})

test('two hashers do not share their results', () => {
  const one = createHasher('murmur')
  const other = createHasher('murmur')
  one.hashString(0, 0, 0, 'one')
  const before = sixtyFour(one)
  other.hashString(0, 0, 0, 'other')
  assert.is(sixtyFour(one), before)
})

test('an unknown hash name causes a typed error', () => {
  assert.throws(
    () => createHasher('md5' as 'murmur'),
    (error: unknown) =>
      error instanceof PetalError && error.codeName === 'InvalidOptions' && /'md5'/.test(error.message)
  )
})

function hashUnits(hasher: PairHasher, units: readonly number[], seed: readonly number[]): [number, number] {
  const [lo = 0, hi = 0, tag = 0] = seed
  hasher.hashString(lo, hi, tag, String.fromCharCode(...units))
  return [hasher.lo, hasher.hi]
}

function flip(units: number[], bit: number, length: number): void {
  const at = (bit >> 4) % length
  units[at] = (units[at] as number) ^ (1 << (bit & 15))
}

function flipSeed(seed: number[], bit: number): void {
  const at = bit >> 5
  seed[at] = (seed[at] as number) ^ (1 << (bit & 31))
}

function count(flips: Uint32Array, lo: number, hi: number): void {
  for (let i = 0; i < 32; i++) {
    flips[i] = (flips[i] as number) + ((lo >>> i) & 1)
    flips[32 + i] = (flips[32 + i] as number) + ((hi >>> i) & 1)
  }
}

/** Asserts that every bit of the result flips in half of the rounds. */
function assertHalf(flips: Uint32Array, rounds: number, what: string): void {
  // Seven standard deviations: one of some 46,000 counts exceeds them by chance once in eight million runs.
  const tolerance = 7 * Math.sqrt(rounds / 4)
  flips.forEach((flipped, bit) => {
    if (Math.abs(flipped - rounds / 2) > tolerance)
      assert.unreachable(`${what}: result bit ${bit} flips ${flipped}/${rounds}`)
  })
}

test.run()
