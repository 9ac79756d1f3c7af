/** The kernels used by checkpoints and seals, compared with plain loops. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RowMemory } from '../../src/bloom/kernels/index.ts'
import { checksum } from '../../src/sharded-bloom/records/checksum.ts'
import { seededRandom } from './random.ts'

const random = seededRandom()
const memory = new RowMemory(4 << 20)
const { kernels, u8, u32, f64 } = memory

/** Keys of many kinds; NaN stands for a position without a key. */
const kinds: readonly ((i: number) => number)[] = [
  (i) => i,
  () => Number.NaN,
  () => random.below(256) - 100,
  () => random.below(70_000),
  () => 1.7e12 + random.below(2 ** 31) * 3,
  () => random.below(1000) / 7,
  () => random.below(1000) * 2 ** 45,
  () => [0, -0, 1][random.below(3)]!,
  () => [Number.POSITIVE_INFINITY, 4, Number.NEGATIVE_INFINITY][random.below(3)]!,
  () => [2 ** 53, 2 ** 53 - 1, -(2 ** 53)][random.below(3)]!,
  (i) => (i === 0 ? 0 : 0x1_0000_0000),
  (i) => (i === 0 ? 0 : 0xffff_ffff),
  (i) => (i === 0 ? 7 : 0x1_0007),
  (i) => (i === 0 ? 7 : 0x106)
]

function keysOf(kind: number, count: number, share: number): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => (random.below(100) < share ? kinds[kind]!(i) : Number.NaN))
}

function bitsOf(key: number): bigint {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, key)
  return view.getBigUint64(0)
}

function keyOf(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, bits)
  return view.getFloat64(0)
}

/** The least of the integers, and the bytes that the difference of each from it takes. */
function narrowed(integers: readonly bigint[]): { readonly least: bigint; readonly width: number } {
  const least = integers.reduce((one, other) => (other < one ? other : one), integers[0] ?? 0n)
  const greatest = integers.reduce((one, other) => (other > one ? other : one), least)
  return { least, width: Math.max(1, Math.ceil((greatest - least).toString(16).length / 2)) }
}

/**
 * A width byte, the least key, and the difference of each key from it; or 16 more and the same of their bits; or 8 and
 * the keys: the first of those that take the fewest bytes.
 */
function encoded(keys: readonly number[]): number[] {
  const bits = keys.map(bitsOf)
  const ofBits = narrowed(bits)
  const integers = keys.every(Number.isSafeInteger) ? keys.map(BigInt) : undefined
  const ofIntegers = integers && narrowed(integers)
  const spansTooMuch = Math.max(...keys) - Math.min(...keys) > Number.MAX_SAFE_INTEGER
  const width = ofIntegers === undefined || spansTooMuch ? 8 : ofIntegers.width
  const isPlain = Math.min(width, ofBits.width) >= 8
  const areBits = !isPlain && width > ofBits.width
  const view = new DataView(new ArrayBuffer(9 + 8 * keys.length))
  const bytes = isPlain ? 8 : areBits ? ofBits.width : width
  view.setUint8(0, bytes + (areBits ? 16 : 0))
  if (!isPlain) view.setFloat64(1, areBits ? keyOf(ofBits.least) : Math.min(...keys), true)
  let at = isPlain ? 1 : 9
  for (const [i, key] of keys.entries()) {
    const above = areBits ? bits[i]! - ofBits.least : (integers?.[i] ?? 0n) - (ofIntegers?.least ?? 0n)
    if (isPlain) view.setFloat64(at, key, true)
    else for (let byte = 0; byte < bytes; byte++) view.setUint8(at + byte, Number((above >> BigInt(8 * byte)) & 255n))
    at += bytes
  }
  return [...new Uint8Array(view.buffer, 0, at)]
}

test('kernels of keys agree with plain loops: compacting, encoding, sampling, first keys and zones', () => {
  for (let round = 0; round < 400; round++) {
    const count = [0, 1, 31, 32, 100, 512, 1000, 1024][round % 8]!
    const keys = keysOf(round % kinds.length, count, [100, 50, 3][round % 3]!)
    const start = memory.push(0)
    const keysAt = memory.push(8 * count)
    const members = memory.push(count / 8 + 16)
    const out = memory.push(16 + 8 * count)
    const bytes = memory.push(32 + 8 * count)
    f64.set(keys, keysAt >>> 3)
    kernels.fill(members, 0, count / 8 + 16)
    const present = [...keys].filter((key) => !Number.isNaN(key))
    assert.is(kernels.compactKeys(keysAt, count, members, out), present.length)
    assert.equal([...f64.subarray(out >>> 3, (out >>> 3) + present.length)], present)
    keys.forEach((key, i) => {
      assert.is((u8[members + (i >> 3)]! >> (i & 7)) & 1, Number.isNaN(key) ? 0 : 1)
    })

    const length = kernels.encodeKeys(out, present.length, bytes)
    assert.equal([...u8.subarray(bytes, bytes + length)], encoded(present), `kind ${round % kinds.length}`)

    const stride = 1 + random.below(5)
    const seen = random.below(10)
    assert.is(kernels.sampleKeys(keysAt, count, stride, seen, bytes & ~7), seen + present.length)
    present.forEach((key, i) => {
      const place = (seen + i) / stride
      if (Number.isInteger(place) && place < count) assert.is(f64[((bytes & ~7) >>> 3) + place], key)
    })

    const allMembers = u8.slice(members, members + count / 8 + 1)
    kernels.fill(members, 0, count / 8 + 16)
    const first = kernels.firstKeys(keysAt, count, 12345, out, members)
    assert.equal(u8.slice(members, members + count / 8 + 1), allMembers)
    for (let group = 0; 32 * group < count; group++) {
      const expected = [...keys.subarray(32 * group)].find((key) => !Number.isNaN(key)) ?? 12345
      assert.is(f64[(out >>> 3) + group], expected)
    }
    assert.is(first, present[0] ?? 12345)

    // Earlier content is overwritten.
    kernels.fill(members, 0xff, count / 8 + 16)
    kernels.zonesOfKeys(keysAt, count, out, members)
    assert.equal(u8.slice(members, members + count / 8 + 1).subarray(0, count >> 3), allMembers.subarray(0, count >> 3))
    const zones = Math.ceil(count / 32)
    const low = present[random.below(present.length)] ?? 0
    const high = low + Math.abs(present[random.below(present.length)] ?? 0)
    for (let zone = 0; zone < zones; zone++) {
      const own = [...keys.subarray(32 * zone, 32 * zone + 32)].filter((key) => !Number.isNaN(key))
      assert.equal([f64[(out >>> 3) + 2 * zone], f64[(out >>> 3) + 2 * zone + 1]], [Math.min(...own), Math.max(...own)])
    }
    const inside = zonesBetween(out, zones, low, high, 0, 0)
    const reaching = zonesBetween(out, zones, low, high, 1, 0)
    for (let zone = 0; zone < zones; zone++) {
      const least = f64[(out >>> 3) + 2 * zone]!
      const greatest = f64[(out >>> 3) + 2 * zone + 1]!
      const isReached = greatest >= low && least <= high
      assert.is(reaching[zone], isReached ? 0xffffffff : 0)
      assert.is(inside[zone], isReached && least >= low && greatest <= high ? 0xffffffff : 0)
    }
    memory.pop(start)
  }
})

/** The words of zonesBetween() for all zones. */
function zonesBetween(zonesAt: number, zones: number, low: number, high: number, isUpper: 0 | 1, sixteenths: number) {
  const out = memory.push(4 * zones)
  // Two calls, as for keys that take two frames.
  const some = zones >>> 1
  kernels.zonesBetween(zonesAt, some, low, high, isUpper, sixteenths, 0, out)
  kernels.zonesBetween(zonesAt + 16 * some, zones - some, low, high, isUpper, sixteenths, 4 * some, out)
  const words = u32.slice(out >>> 2, (out >>> 2) + zones)
  memory.pop(out)
  return words
}

/** The sixteenth of the span from `least` to `greatest` that the key is in; 0 where that is undefined. */
function sixteenthOf(key: number, least: number, greatest: number): number {
  const place = (key - least) * (16 / (greatest - least))
  return Number.isNaN(place) ? 0 : Math.min(15, Math.floor(place))
}

test('in a zone that an interval ends in, only keys in the same sixteenth as the end are uncertain', () => {
  const spans = [
    ...kinds,
    () => random.below(32) - 16,
    () => 5e-324 * random.below(4),
    () => (random.below(3) - 1) * 1.7e308
  ]
  for (let round = 0; round < 600; round++) {
    const start = memory.push(0)
    const count = [32, 100, 512, 1000, 1024][round % 5]!
    const words = Math.ceil(count / 32)
    const kind = spans[round % spans.length]!
    const keys = Float64Array.from({ length: count }, (_, i) => (random.below(100) < 90 ? kind(i) : Number.NaN))
    const keysAt = memory.push(8 * count)
    const zonesAt = memory.push(16 * words)
    const members = memory.push(4 * words)
    const rows = memory.push(4 * 4 * words)
    const sixteenths = memory.push(16)
    f64.set(keys, keysAt >>> 3)
    kernels.fill(rows, 0xff, 4 * 4 * words)
    kernels.zonesOfKeys(keysAt, count, zonesAt, members)
    kernels.codeGroups(keysAt, count, zonesAt, 16, rows, 4 * words)
    for (let bit = 0; bit < 4; bit++) u32[(sixteenths >>> 2) + bit] = rows + bit * 4 * words
    const ends = [keys[random.below(count)]!, keys[random.below(count)]!, kind(1) + 0.5]
    const present = ends.filter((end) => !Number.isNaN(end)).sort((a, b) => a - b)
    const low = [present[0] ?? 0, Number.NEGATIVE_INFINITY][random.below(5) >> 2]!
    const high = [present.at(-1) ?? 0, Number.POSITIVE_INFINITY][random.below(5) >> 2]!
    const lower = zonesBetween(zonesAt, words, low, high, 0, sixteenths)
    const upper = zonesBetween(zonesAt, words, low, high, 1, sixteenths)
    keys.forEach((key, i) => {
      if (Number.isNaN(key)) return
      const least = f64[(zonesAt >>> 3) + 2 * (i >> 5)]!
      const greatest = f64[(zonesAt >>> 3) + 2 * (i >> 5) + 1]!
      const isCertain = ((lower[i >> 5]! >>> (i & 31)) & 1) === 1
      const isCandidate = ((upper[i >> 5]! >>> (i & 31)) & 1) === 1
      const sixteenth = sixteenthOf(key, least, greatest)
      const lowest = low > least ? sixteenthOf(low, least, greatest) : -1
      const highest = high < greatest ? sixteenthOf(high, least, greatest) : 16
      const isWithin = key >= low && key <= high
      const isReached = greatest >= low && least <= high
      const what = `${key} of ${least} to ${greatest}, from ${low} to ${high}`
      assert.is(isCertain, isReached && sixteenth > lowest && sixteenth < highest, what)
      assert.is(isCandidate, isReached && sixteenth >= lowest && sixteenth <= highest, what)
      assert.ok(isWithin ? isCandidate : !isCertain, what)
    })
    memory.pop(start)
  }
})

test('checksum() agrees with the JavaScript implementation, at any address and length', () => {
  const at = memory.push(3000)
  for (let round = 0; round < 500; round++) {
    const bytes = Uint8Array.from({ length: round < 40 ? round : random.below(2000) }, () => random.next())
    const address = at + random.below(8)
    u8.set(bytes, address)
    const seed = random.next() | 0
    assert.is(kernels.checksum(address, bytes.length, seed) >>> 0, checksum(bytes, seed))
  }
  memory.pop(at)
})

test('packGroups() packs the bits of groups, those of the first word lowest', () => {
  const frame = memory.push(8192)
  const out = memory.push(8192)
  for (let i = 0; i < 2048; i++) u32[(frame >>> 2) + i] = random.next()
  for (const groups of [1, 2, 4, 8, 16, 32]) {
    for (let shift = 0; shift < 32; shift += groups) {
      kernels.packGroups(frame, 2048, shift, groups, out)
      for (let i = 0; i < 2048; i++) {
        const bit = i * groups
        const packed = (u32[(out >>> 2) + (bit >>> 5)]! >>> (bit & 31)) % 2 ** groups
        assert.is(packed, (u32[(frame >>> 2) + i]! >>> shift) % 2 ** groups)
      }
    }
  }
  memory.pop(frame)
})

test('unpackGroups() restores the bits of groups and keeps all others', () => {
  const frame = memory.push(8192)
  const out = memory.push(8192)
  const other = memory.push(8192)
  for (const groups of [1, 2, 4, 8, 16, 32]) {
    for (let shift = 0; shift < 32; shift += groups) {
      for (let i = 0; i < 2048; i++) u32[(frame >>> 2) + i] = random.next()
      const before = Uint32Array.from({ length: 2048 }, () => random.next() & random.next())
      u32.set(before, other >>> 2)
      kernels.packGroups(frame, 2048, shift, groups, out)
      kernels.unpackGroups(out, 2048, shift, groups, other)
      const mask = groups === 32 ? -1 : (2 ** groups - 1) << shift
      for (let i = 0; i < 2048; i++) {
        assert.is(u32[(other >>> 2) + i], (before[i]! | (u32[(frame >>> 2) + i]! & mask)) >>> 0)
      }
    }
  }
  memory.pop(frame)
})

test('joinRows() copies parts of rows one after the other', () => {
  const from = memory.push(4096)
  const pointers = memory.push(16)
  const out = memory.push(2048)
  for (let i = 0; i < 4096; i++) u8[from + i] = random.next()
  u32.set([from + 1024, from, from + 512], pointers >>> 2)
  kernels.joinRows(pointers, 3, 512, out)
  const expected = [1024, 0, 512].flatMap((offset) => [...u8.subarray(from + offset, from + offset + 512)])
  assert.equal([...u8.subarray(out, out + 1536)], expected)
  memory.pop(from)
})

test.run()
