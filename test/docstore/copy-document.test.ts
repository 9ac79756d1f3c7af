/** A copy equals what decoding the record again would give, and shares nothing with the original. */

import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { copyDocument, heapBytesOf } from '../../src/docstore/documents/copy-document.ts'
import { decodeRecord, encodeRecord } from '../../src/docstore/documents/record.ts'
import type { Document } from '../../src/model/types.ts'
import { generateTweets } from '../../src/workload/tweets.ts'
import { describe } from '../support/describe.ts'
import { anyDocument, seedOfRun } from '../support/values.ts'

const seed = seedOfRun()

/** Every object in the value, at any depth. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  return [value, ...Object.values(value).flatMap(objectsIn)]
}

test('tweets take about as much memory as is counted for them', () => {
  v8.setFlagsFromString('--expose-gc')
  // This test comes first in the file: otherwise garbage of other tests would be collected meanwhile.
  const collect = runInNewContext('gc') as () => void
  const texts = Array.from(generateTweets({ count: 10_000, seed: 5 }), (tweet) => JSON.stringify(tweet))
  const documents: Document[] = new Array(texts.length)
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < texts.length; i++) documents[i] = copyDocument(decodeRecord(texts[i]!))
  collect()
  const used = process.memoryUsage().heapUsed - before
  const counted = documents.reduce((sum, document) => sum + (heapBytesOf(document) ?? 0), 0)
  // Uses the texts, so that they are not collected earlier.
  const message = `${counted} bytes counted, ${used} used by ${texts.length} tweets`
  assert.ok(counted > 0.85 * used && counted < 1.25 * used, message)
})

test('a copy equals what decoding again gives, and contains no object of the original', () => {
  let copied = 0
  fc.assert(
    fc.property(anyDocument, (document) => {
      const record = encodeRecord(document, false)
      const original = decodeRecord(record)
      if (heapBytesOf(original) === undefined) return
      copied++
      const copy = copyDocument(original)
      assert.is(describe(copy), describe(decodeRecord(record)))
      const originals = new Set(objectsIn(original))
      for (const object of objectsIn(copy)) assert.not(originals.has(object))
    }),
    { numRuns: 2_000, seed }
  )
  assert.ok(copied > 200, `${copied} documents were copied`)
})

test('dates and ObjectIds are copied, too; documents with other instances are not copied', () => {
  const at = new Date(5)
  const _id = new ObjectId()
  const copy = copyDocument({ _id, at, list: [at, [_id]] })
  assert.equal(copy, { _id, at, list: [at, [_id]] })
  assert.is.not(copy._id, _id)
  assert.is.not(copy.at, at)
  assert.instance(copy._id, ObjectId)
  assert.is(heapBytesOf({ a: [{ b: /x/ }] }), undefined)
  assert.is(heapBytesOf({ a: new Uint8Array(1) }), undefined)
})

test('keys keep their order, and additions to Object.prototype are not copied', () => {
  const document = JSON.parse('{"b":{"2":1,"1":2,"constructor":{}},"a":[[]],"__proto__":{"x":[1]}}') as Document
  const prototype = Object.prototype as Document
  prototype.polluted = { nested: true }
  try {
    const copy = copyDocument(document)
    assert.is(JSON.stringify(copy), JSON.stringify(document))
    assert.equal(Object.keys(copy), Object.keys(document))
    assert.not(Object.hasOwn(copy, 'polluted'))
    assert.is(Object.getPrototypeOf(copy), Object.prototype)
  } finally {
    delete prototype.polluted
  }
})

test.run()
