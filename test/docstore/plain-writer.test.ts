/** Documents that JSON holds are written as JSON.stringify writes them, byte by byte, and all others are refused. */
import { ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PlainWriter } from '../../src/docstore/documents/plain-writer.ts'
import { encodeRecord } from '../../src/docstore/documents/record.ts'
import type { Document } from '../../src/model/types.ts'
import { jsonFormOf } from '../../src/sharded-bloom/byte-scan/plain.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { adversarial, documents, plain, testSeed } from '../support/arbitraries.ts'

const seed = testSeed()

function check(writer: PlainWriter, document: Document): boolean {
  const form = jsonFormOf(document)
  const record = writer.write(document)
  assert.is(record === undefined, form === undefined)
  if (record === undefined) return false
  assert.is(writer.form, form)
  assert.is(Buffer.compare(record, Buffer.from(encodeRecord(document, true))), 0, encodeRecord(document, true))
  return true
}

test('documents of all kinds, one after the other', () => {
  const writer = new PlainWriter()
  let written = 0
  const mixed = [
    ...fc.sample(documents(adversarial), { numRuns: 5000, seed }),
    ...fc.sample(documents(plain), { numRuns: 5000, seed: seed + 1 }),
    ...generateTweets({ count: 500, seed })
  ]
  for (const document of mixed) if (check(writer, document)) written++
  assert.ok(written > 6000, `${written} were written`)
})

test('any JSON value, texts of all of Unicode and half characters among them', () => {
  const writer = new PlainWriter()
  const texts = fc.string({ unit: 'binary', maxLength: 400 })
  const halves = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units))
  const values = fc.jsonValue({ maxDepth: 5 })
  const keys = fc.oneof(texts, halves, fc.constantFrom('a', 'b', '0', '17', '"', '\\', '', 'toJSON', '_id'))
  fc.assert(
    fc.property(
      fc.dictionary(keys, fc.oneof(values, texts, halves, fc.double(), fc.integer()), { maxKeys: 12 }),
      (d) => {
        if (typeof d._id !== 'object') check(writer, d)
      }
    ),
    { numRuns: 3000, seed }
  )
})

test('numbers of every size', () => {
  const writer = new PlainWriter()
  const numbers = [0, 1, 9, 10, 99, 100, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53, 1e20, 1e21, 1.5, 1e-7, 5e-324, 0.1, -0]
  for (const number of numbers) for (const value of [number, -number]) check(writer, { value, list: [value, value] })
  for (let power = 1; power < 1e15; power *= 10) check(writer, { below: power - 1, power, above: power + 1 })
  for (const value of [Number.NaN, Infinity, -Infinity]) assert.not.ok(check(writer, { value }))
})

test('an ObjectId as _id is its digits, behind a mark', () => {
  const writer = new PlainWriter()
  assert.ok(check(writer, { _id: new ObjectId(), a: [] }))
  assert.ok(check(writer, { _id: 1 }))
  assert.not.ok(check(writer, { _id: new ObjectId(), other: new ObjectId() }))
})

test('documents larger than any before, long texts, deep nesting, more keys than are remembered', () => {
  const writer = new PlainWriter()
  const nested = (depth: number, wrap: (inner: unknown) => unknown): Document => {
    let value: unknown = 1
    for (let i = 1; i < depth; i++) value = wrap(value)
    return { a: value }
  }
  for (const wrap of [(inner: unknown) => ({ b: inner }), (inner: unknown) => [inner]]) {
    assert.ok(check(writer, nested(100, wrap)))
    assert.not.ok(check(writer, nested(101, wrap)))
  }
  for (let length = 1; length < 1e6; length *= 7) {
    assert.ok(
      check(writer, { text: 'x'.repeat(length), other: 'ö'.repeat(length), list: Array.from({ length }, () => 12) })
    )
  }
  for (let i = 0; i < 10_000; i += 10) {
    check(writer, Object.fromEntries(Array.from({ length: 10 }, (_, j) => [`key ${i + j}`, j])))
  }
  check(writer, { ['k'.repeat(1000)]: 1, b: 2 })
})

test('a document that throws leaves nothing behind', () => {
  const writer = new PlainWriter()
  const trap = {
    a: 1,
    get b(): number {
      throw new Error('trap')
    }
  }
  assert.throws(() => writer.write(trap), /trap/)
  assert.ok(check(writer, { a: 1, b: 2 }))
})

test('nothing is written while all objects inherit something', () => {
  const prototype = Object.prototype as unknown as Record<string, unknown>
  Object.defineProperty(prototype, 'toJSON', { value: () => 0, configurable: true, enumerable: false })
  try {
    assert.is(new PlainWriter().write({ a: 1 }), undefined)
  } finally {
    delete prototype.toJSON
  }
})

test.run()
