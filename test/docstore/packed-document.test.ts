/** What is made of a packed document is what a copy of it would be. */
import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { copyDocument, heapBytesOf, heapBytesOfString } from '../../src/docstore/documents/copy-document.ts'
import { CopyPlans } from '../../src/docstore/documents/copy-plan.ts'
import { packDocument, unpackDocument } from '../../src/docstore/documents/packed-document.ts'
import { decodeRecord, encodeRecord } from '../../src/docstore/documents/record.ts'
import type { Document } from '../../src/model/types.ts'
import { generateTweets } from '../../src/workload/tweets.ts'
import { describe } from '../support/describe.ts'
import { anyDocument, seedOfRun } from '../support/values.ts'

const seed = seedOfRun()

/** More than are made before there is a constructor. */
const often = 40

/** Unpacks until there would be a constructor, and checks everything that was made. */
function check(plans: CopyPlans, document: Document): void {
  const expected = describe(copyDocument(document))
  const plan = plans.planOf(document)
  const packed = packDocument(document, plan)
  let before: Document | undefined
  for (let i = 0; i < often; i++) {
    const unpacked = unpackDocument(packed, plan)
    assert.is(describe(unpacked), expected)
    assert.equal(Object.keys(unpacked), Object.keys(document))
    assert.is(Object.getPrototypeOf(unpacked), Object.prototype)
    assert.is.not(unpacked, before)
    before = unpacked
  }
}

test('packed tweets take about the memory that is counted for them, less than half of what they take as objects', () => {
  v8.setFlagsFromString('--expose-gc')
  // First in this file: what others leave behind would be collected meanwhile.
  const collect = runInNewContext('gc') as () => void
  const plans = new CopyPlans()
  const tweets = [...generateTweets({ count: 10_000, seed: 5 })] as unknown as Document[]
  const packed: string[] = new Array(tweets.length)
  const planned = tweets.map((tweet) => plans.planOf(tweet))
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < tweets.length; i++) packed[i] = packDocument(tweets[i]!, planned[i]!)
  collect()
  const used = process.memoryUsage().heapUsed - before
  const counted = packed.reduce((sum, text) => sum + heapBytesOfString(text), 0)
  const message = `${counted} bytes counted, ${used} used by ${packed.length} tweets`
  assert.ok(counted > 0.85 * used && counted < 1.25 * used, message)
  const asObjects = tweets.reduce((sum, tweet) => sum + (heapBytesOf(tweet) ?? 0), 0)
  assert.ok(counted < asObjects / 2, `${counted} bytes packed, ${asObjects} as objects`)
})

test('a packed document is what a copy of it is, before there is a constructor and after', () => {
  const plans = new CopyPlans()
  let packed = 0
  fc.assert(
    fc.property(anyDocument, (document) => {
      const original = decodeRecord(encodeRecord(document, false))
      if (heapBytesOf(original) === undefined) return
      check(plans, original)
      packed++
    }),
    { numRuns: 1_000, seed }
  )
  assert.ok(packed > 100, `${packed} documents were packed`)
})

test('every number, and strings of any length and width, are what they were', () => {
  const plans = new CopyPlans()
  const around = [0, 1, 95, 96, 127, 128, 2 ** 8, 2 ** 16, 2 ** 24, 2 ** 31, 2 ** 32, 2 ** 40, Number.MAX_SAFE_INTEGER]
  const numbers = around.flatMap((n) => [n - 1, n, n + 1, -n, n / 3])
  numbers.push(Number.NaN, Infinity, -Infinity, Number.MIN_VALUE, Number.MAX_VALUE, 1e21)
  check(plans, Object.fromEntries(numbers.map((n, i) => [`number ${i}`, n])))
  check(plans, { numbers })
  for (const character of ['a', '\0', '\u00ff', '\u0100', '\ud83d', '😀']) {
    const strings = [0, 1, 12, 13, 94, 95, 96, 97, 127, 128, 129, 20_000].map((length) => character.repeat(length))
    check(plans, { strings, first: strings[7], inner: { last: strings.at(-1) } })
  }
})

test('values of 64 bits, dates, ObjectIds, nothing and mixed arrays are packed', () => {
  const plans = new CopyPlans()
  check(plans, {
    _id: new ObjectId(),
    big: [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)],
    dates: [new Date(0), new Date(-1), new Date(Number.NaN)],
    nothing: [null, undefined, true, false, [], {}],
    mixed: [1, 'a', { a: 1 }, [{ b: { c: [new Date(5)] } }], new ObjectId()],
    equal: [{ a: [1] }, { a: [] }],
    unlike: [{ a: [1] }, { b: {} }]
  })
})

test('a key that Object.prototype has is a key of the document, also when it comes there later', () => {
  const plans = new CopyPlans()
  check(plans, JSON.parse('{"__proto__":{"a":1},"constructor":5,"list":[1,{"toString":{"valueOf":1}}]}') as Document)
  const document: Document = { _id: 1, inner: { late: [1] }, late: 5 }
  check(plans, document)
  const plan = plans.planOf(document)
  const packed = packDocument(document, plan)
  Object.defineProperty(Object.prototype, 'late', { set: () => {}, get: () => 'inherited', configurable: true })
  try {
    plans.check()
    const unpacked = unpackDocument(packed, plan)
    assert.equal(Object.entries(unpacked), Object.entries(document))
    assert.equal(Object.entries(unpacked.inner as Document), [['late', [1]]])
  } finally {
    delete (Object.prototype as Document).late
  }
})

test('structures without end are packed', () => {
  const plans = new CopyPlans()
  for (let n = 0; n < 10_000; n++) {
    const document = { _id: n, [`key ${n}`]: { [`inner ${n}`]: [{ n }] } }
    const plan = plans.planOf(document)
    assert.equal(unpackDocument(packDocument(document, plan), plan), document)
  }
})

test.run()
