/**
 * Whatever bytes the scanner is given, it reads nothing else, writes nothing but its results, and accepts nothing that
 * JSON.parse() refuses.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isPlainObject } from '../../src/model/types.ts'
import { initialParameters } from '../../src/sharded-bloom/tune/segment-parameters.ts'
import { checkTuning } from '../../src/sharded-bloom/tune/tuning-options.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { documents, plain, testSeed } from '../support/arbitraries.ts'
import { encodeJson, SegmentPair, SegmentTools } from '../support/scanned-segments.ts'

const seed = testSeed()
const tools = new SegmentTools(seed)
const ingest = tools.ingest()
const pair = new SegmentPair(tools, ingest, initialParameters(checkTuning({ rangeCodes: 'all' })))
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const texts = [
  ...fc.sample(documents(plain), { numRuns: 200, seed }),
  ...generateTweets({ count: 200, seed }),
  { a: 'ü😀\ud800\\"\n', b: [0, -1.5, 1e21, 123456789012], c: { 'long key of many bytes': [{}, [], ''] } }
]
for (const document of texts) pair.add(document)
const originals = texts.map(encodeJson)

let accepted = 0

/** Feeds the bytes to the scanner; if it accepts them, they must be JSON, and indexed as JSON.parse() reads them. */
function feed(bytes: Uint8Array): void {
  // Surrounded by other bytes, which must not matter.
  const around = new Uint8Array(bytes.length + 64).fill(0x22)
  around.set(bytes, 32)
  if (!pair.addPart(around, 32, bytes.length)) return
  accepted++
  assert.ok(isPlainObject(JSON.parse(decoder.decode(bytes))))
}

/** Generates numbers below a bound. */
function random(start: number): (below: number) => number {
  let state = start | 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

test('every prefix of a document is refused', () => {
  for (const bytes of originals.slice(-30)) {
    const before = accepted
    for (let length = 0; length < bytes.length; length++) feed(bytes.subarray(0, length))
    assert.is(accepted, before)
  }
})

test('documents with changed bytes are refused unless they are still JSON', () => {
  const below = random(seed)
  const tokens = Array.from('{}[]",:\\/0123456789-+.eEtfnu \t\n\u0000\u001f', (token) => token.charCodeAt(0))
  for (let round = 0; round < 60_000; round++) {
    const bytes = originals[below(originals.length)]!.slice()
    for (let change = below(3); change >= 0 && bytes.length > 0; change--) {
      bytes[below(bytes.length)] = below(2) === 0 ? below(256) : tokens[below(tokens.length)]!
    }
    feed(bytes)
  }
  console.log(`accepted after changes: ${accepted}`)
  assert.ok(accepted > 1000)
})

test('pieces of two documents put together are refused unless they are JSON', () => {
  const below = random(seed + 1)
  for (let round = 0; round < 30_000; round++) {
    const a = originals[below(originals.length)]!
    const b = originals[below(originals.length)]!
    const from = below(a.length)
    const to = below(b.length)
    const bytes = new Uint8Array(from + b.length - to)
    bytes.set(a.subarray(0, from))
    bytes.set(b.subarray(to), from)
    feed(bytes)
  }
})

test('random bytes are refused unless they are JSON', () => {
  const below = random(seed + 2)
  const before = accepted
  for (let round = 0; round < 20_000; round++) feed(Uint8Array.from({ length: 1 + below(100) }, () => below(256)))
  // After the beginning of a document, the scanner gets further.
  const start = new TextEncoder().encode('{"a":"')
  for (let round = 0; round < 20_000; round++) {
    feed(Uint8Array.from({ length: 6 + below(100) }, (_, i) => start[i] ?? below(256)))
  }
  console.log(`accepted of random bytes: ${accepted - before}`)
})

test('bytes that are not UTF-8 are refused', () => {
  for (const wrong of [
    [0x80],
    [0xc0, 0x80],
    [0xc1, 0xbf],
    [0xe0, 0x80, 0x80],
    [0xe0, 0x9f, 0xbf],
    [0xed, 0xa0, 0x80],
    [0xf0, 0x8f, 0xbf, 0xbf],
    [0xf4, 0x90, 0x80, 0x80],
    [0xf8, 0x88, 0x80, 0x80, 0x80],
    [0xe2, 0x82],
    [0xff]
  ]) {
    const bytes = Uint8Array.from([...new TextEncoder().encode('{"a":"'), ...wrong, 0x22, 0x7d])
    assert.not.ok(ingest.add(pair.scanned, bytes, 0, bytes.length, 'json'), String(wrong))
  }
})

test('accepted bytes are indexed as JSON.parse() reads them', () => {
  pair.assertEqual()
  pair.free()
  ingest.close()
})

test.run()
