import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BlockCompressor } from '../../src/lsm/format/block-compressor.ts'
import { Codec, decompressInto, rawBytesOf } from '../../src/lsm/format/codec.ts'
import { maxPayloadBytes } from '../../src/lsm/format/log-record.ts'
import { chunkBytes, compressChunk, decompressChunk, inputBuffer } from '../../src/lsm/format/lz4/lz4.ts'
import { seedOfRun } from '../support/values.ts'

const seed = seedOfRun()
const place = { path: 'x', offset: 0 }

/** Decompresses by the description of LZ4's block format, byte by byte. Undefined for malformed input. */
function referenceDecompress(bytes: Uint8Array, rawBytes: number): Buffer | undefined {
  const out: number[] = []
  let at = 0
  const lengthFrom = (nibble: number): number => {
    let length = nibble
    if (nibble === 15) {
      let more = 255
      while (more === 255) {
        if (at >= bytes.length) return Number.NaN
        more = bytes[at++]!
        length += more
      }
    }
    return length
  }
  while (at < bytes.length) {
    const token = bytes[at++]!
    const literals = lengthFrom(token >> 4)
    if (!(at + literals <= bytes.length) || out.length + literals > rawBytes) return undefined
    for (let i = 0; i < literals; i++) out.push(bytes[at++]!)
    if (at === bytes.length) return out.length === rawBytes ? Buffer.from(out) : undefined
    if (at + 2 > bytes.length) return undefined
    const distance = bytes[at]! | (bytes[at + 1]! << 8)
    at += 2
    const matched = lengthFrom(token & 15) + 4
    if (distance === 0 || distance > out.length || !(out.length + matched <= rawBytes)) return undefined
    for (let i = 0; i < matched; i++) out.push(out[out.length - distance]!)
  }
  return undefined
}

/** From incompressible data to one repeated byte, with periods of all lengths. */
const data: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(2000))
    .map(([period, length]) => Buffer.alloc(length, period)),
  fc
    .array(fc.constantFrom('the ', 'quick ', 'brown ', '{"id":', '12', '}'), { maxLength: 400 })
    .map((words) => Buffer.from(words.join(''))),
  fc
    .tuple(fc.uint8Array({ maxLength: 30 }), fc.integer({ min: 250, max: 70_000 }), fc.uint8Array({ maxLength: 30 }))
    .map(([head, zeros, tail]) => Buffer.concat([head, Buffer.alloc(zeros), tail, head]))
)

function compressed(raw: Buffer): Buffer {
  const view = compressChunk(raw, 0, raw.length, 2 * chunkBytes)
  assert.ok(view !== undefined)
  return Buffer.from(view)
}

test('compressed data decompresses to the same bytes, here and by the description of the format', () => {
  fc.assert(
    fc.property(data, (raw) => {
      const bytes = compressed(raw)
      const target = Buffer.alloc(raw.length + 8, 0xee)
      assert.ok(decompressChunk(bytes, 0, bytes.length, target, 4, 4 + raw.length))
      assert.equal(target.subarray(4, 4 + raw.length), raw)
      assert.equal(target.subarray(0, 4), Buffer.alloc(4, 0xee))
      assert.equal(target.subarray(4 + raw.length), Buffer.alloc(4, 0xee))
      assert.equal(referenceDecompress(bytes, raw.length), raw)
    }),
    { seed, numRuns: 2000 }
  )
})

test('data in inputRoom() decompresses from there, several times and next to other data', () => {
  fc.assert(
    fc.property(data, data, fc.nat(50), (raw, other, start) => {
      const bytes = compressed(raw)
      const others = compressed(other)
      const end = start + bytes.length
      const room = inputBuffer(end + others.length)
      assert.ok(room !== undefined)
      room.set(bytes, start)
      room.set(others, end)
      for (const target of [Buffer.alloc(raw.length), Buffer.alloc(raw.length)]) {
        assert.ok(decompressChunk(room, start, end, target, 0, raw.length))
        assert.equal(target, raw)
      }
      const target = Buffer.alloc(other.length)
      assert.ok(decompressChunk(room, end, end + others.length, target, 0, other.length))
      assert.equal(target, other)
    }),
    { seed, numRuns: 500 }
  )
  assert.is(inputBuffer(2 * chunkBytes), undefined)
})

test('the result of a compression does not depend on earlier ones', () => {
  fc.assert(
    fc.property(data, data, (raw, other) => {
      const first = compressed(raw)
      compressed(other)
      assert.equal(compressed(raw), first)
    }),
    { seed, numRuns: 300 }
  )
})

test('matches around the borders of 64 KiB pages are compressed correctly', () => {
  const page = 0x10000
  const text = Buffer.from('{"name":"one","size":12,"tags":["a","b"]},'.repeat(10))
  for (const border of [page, 2 * page]) {
    for (const shift of [-20, -13, -12, -5, -4, -1, 0, 1, 4, 12, 13, 20]) {
      const raw = Buffer.concat([incompressible(border + shift - 200), text, text, incompressible(40), text])
      const bytes = compressed(raw)
      assert.ok(bytes.length < raw.length, `${border} ${shift}`)
      assert.ok(referenceDecompress(bytes, raw.length)?.equals(raw), `${border} ${shift}`)
      const target = Buffer.alloc(raw.length)
      assert.ok(decompressChunk(bytes, 0, bytes.length, target, 0, raw.length))
      assert.ok(target.equals(raw), `${border} ${shift}`)
    }
  }
})

test('compressed input ends with at least five literals', () => {
  for (let length = 13; length < 64; length++) {
    const bytes = compressed(Buffer.alloc(length, 'a'))
    assert.ok((bytes.at(-6) ?? 0) >> 4 >= 5, `${length}: ${bytes.toString('hex')}`)
  }
})

test('input is refused exactly if the format forbids it', () => {
  const malformed = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc.tuple(data, fc.nat(), fc.nat(255)).map(([raw, at, byte]) => {
      const bytes = compressed(raw.subarray(0, 400))
      bytes[at % bytes.length] = byte
      return bytes
    })
  )
  fc.assert(
    fc.property(malformed, fc.nat(400), (bytes, rawBytes) => {
      const target = Buffer.alloc(rawBytes)
      const expected = referenceDecompress(bytes, rawBytes)
      assert.is(decompressChunk(bytes, 0, bytes.length, target, 0, rawBytes), expected !== undefined)
      if (expected !== undefined) assert.equal(target, expected)
    }),
    { seed, numRuns: 20_000 }
  )
})

test('a match may reach back to the first byte of the output, but no further', () => {
  for (let literals = 1; literals < 40; literals++) {
    const head = [Math.min(literals, 15) << 4, ...(literals < 15 ? [] : [literals - 15])]
    const first = Array.from({ length: literals }, (_, i) => i)
    for (let distance = 0; distance < literals + 3; distance++) {
      const bytes = Buffer.from([...head, ...first, distance, 0, 5 << 4, 1, 2, 3, 4, 5])
      const target = Buffer.alloc(literals + 4 + 5)
      const expected = referenceDecompress(bytes, target.length)
      assert.is(expected !== undefined, distance > 0 && distance <= literals)
      const isGood = decompressChunk(bytes, 0, bytes.length, target, 0, target.length)
      assert.is(isGood, expected !== undefined, `${literals} literals, then ${distance} back`)
      if (expected !== undefined) assert.equal(target, expected)
    }
  }
})

test('compression gives up above the limit, and never exceeds it', () => {
  fc.assert(
    fc.property(data, fc.nat(2000), (raw, limit) => {
      const bytes = compressChunk(raw, 0, raw.length, limit)
      if (bytes !== undefined) assert.ok(bytes.length <= limit)
      else assert.ok(compressed(raw).length + 1 >= limit)
    }),
    { seed, numRuns: 1000 }
  )
})

test('a block may be somewhat larger than the largest batch, but no larger', () => {
  const bytes = Buffer.alloc(maxPayloadBytes / 255 + 4096)
  const claim = (rawBytes: number): number => {
    bytes.writeUInt32LE(rawBytes)
    return rawBytesOf(Codec.lz4, bytes, 0, bytes.length, place)
  }
  // An entry's sequence number takes up to eight bytes, a block's end eight more.
  assert.is(claim(maxPayloadBytes + 20), maxPayloadBytes + 20)
  assert.throws(() => claim(maxPayloadBytes + 4096), /claims to hold/)
})

test('a payload larger than a chunk is compressed in several chunks', () => {
  for (const length of [chunkBytes - 1, chunkBytes, chunkBytes + 1, 3 * chunkBytes + 17]) {
    const raw = Buffer.alloc(length)
    for (let i = 0; i < length; i++) raw[i] = (i * i) >> 12
    const bytes = Buffer.concat([Buffer.alloc(3), raw])
    const end = new BlockCompressor('lz4').compress(bytes, 3, bytes.length)
    assert.ok(end !== undefined && end < bytes.length)
    assert.is(rawBytesOf(Codec.lz4, bytes, 3, end, place), length)
    const target = Buffer.alloc(length)
    decompressInto(bytes, 3, end, target, 0, length, place)
    assert.ok(target.equals(raw))
  }
})

function incompressible(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let i = 0, x = 1; i < length; i++) {
    x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0
    bytes[i] = x >>> 24
  }
  return bytes
}

test('a payload that does not shrink by an eighth is left uncompressed', () => {
  const random = incompressible(70_000)
  for (const length of [70, 4096, 70_000]) {
    const bytes = Buffer.from(random.subarray(0, length))
    assert.is(new BlockCompressor('lz4').compress(bytes, 0, length), undefined)
    assert.ok(bytes.equals(random.subarray(0, length)))
  }
})

test('after four blocks that do not compress, compression skips four blocks and is tried again', () => {
  const random = incompressible(500)
  const compressor = new BlockCompressor('lz4')
  for (let i = 0; i < 4; i++) assert.is(compressor.compress(Buffer.from(random), 0, 500), undefined)
  let skipped = 0
  while (compressor.compress(Buffer.alloc(500), 0, 500) === undefined) skipped++
  assert.is(skipped, 4)
  assert.ok(compressor.compress(Buffer.alloc(500), 0, 500) !== undefined)
})

test('a payload with an impossible uncompressed size or an unknown codec is refused', () => {
  const claim = (rawBytes: number) => {
    const bytes = Buffer.alloc(20)
    bytes.writeUInt32LE(rawBytes)
    return () => rawBytesOf(Codec.lz4, bytes, 0, 20, place)
  }
  assert.throws(claim(20 * 256 + 1), /claims to hold/)
  assert.throws(claim(0), /claims to hold/)
  assert.throws(claim(0xffff_ffff), /claims to hold/)
  assert.throws(() => rawBytesOf(9, Buffer.alloc(20), 0, 20, place), /codec 9/)
})

test.run()
