/** Copies made by generated constructors equal other copies. */
import { isDeepStrictEqual } from 'node:util'
import { ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { copyDocument, heapBytesOf } from '../../src/docstore/documents/copy-document.ts'
import { CopyPlans, copyByPlan } from '../../src/docstore/documents/copy-plan.ts'
import { decodeRecord, encodeRecord } from '../../src/docstore/documents/record.ts'
import type { Document } from '../../src/model/types.ts'
import { generateTweets } from '../../src/workload/tweets.ts'
import { describe } from '../support/describe.ts'
import { anyDocument, seedOfRun } from '../support/values.ts'

const seed = seedOfRun()

/** More copies than are made before a constructor is generated. */
const often = 40

function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  return [value, ...Object.values(value).flatMap(objectsIn)]
}

function isMadeByConstructor(plans: CopyPlans, document: Document): boolean {
  const plan = plans.planOf(document)
  return String(plan.copy).includes('new Document')
}

/** Makes so many copies that a constructor is generated, and checks each of them. */
function checkCopies(plans: CopyPlans, document: Document): void {
  const expected = describe(copyDocument(document))
  const originals = new Set(objectsIn(document))
  const plan = plans.planOf(document)
  for (let i = 0; i < often; i++) {
    const copy = copyByPlan(document, plan)
    assert.is(describe(copy), expected)
    assert.equal(Object.keys(copy), Object.keys(document))
    for (const object of objectsIn(copy)) {
      assert.not(originals.has(object))
      assert.is(Object.getPrototypeOf(object), Object.getPrototypeOf(Array.isArray(object) ? [] : object))
    }
    assert.is(Object.getPrototypeOf(copy), Object.prototype)
  }
}

test('a copy by plan equals what copyDocument() gives, with and without a constructor', () => {
  const plans = new CopyPlans()
  let constructors = 0
  fc.assert(
    fc.property(anyDocument, (document) => {
      const original = decodeRecord(encodeRecord(document, false))
      if (heapBytesOf(original) === undefined) return
      checkCopies(plans, original)
      if (isMadeByConstructor(plans, original)) constructors++
    }),
    { numRuns: 1_000, seed }
  )
  assert.ok(constructors > 100, `${constructors} documents were copied by constructors`)
})

test('documents of one structure share a plan, whatever their values; tweets need few plans', () => {
  const plans = new CopyPlans()
  const tweets = [...generateTweets({ count: 3_000, seed: 5 })] as unknown as Document[]
  const used = new Set(tweets.map((tweet) => plans.planOf(tweet)))
  assert.ok(used.size < 200, `${used.size} plans for ${tweets.length} tweets`)
  for (const tweet of tweets) assert.ok(isDeepStrictEqual(copyByPlan(tweet, plans.planOf(tweet)), tweet))
  const byConstructor = tweets.filter((tweet) => isMadeByConstructor(plans, tweet)).length
  assert.ok(byConstructor > 0.9 * tweets.length, `${byConstructor} of ${tweets.length} copied by constructors`)
})

test('keys that are not identifiers, dates, ObjectIds and mixed arrays are copied', () => {
  const plans = new CopyPlans()
  const odd: Document = JSON.parse(
    '{"a b":1,"\\"":[],"\\u2028":{"":{}},"\\\\":[[1],[2]],"`$`":[{"a":1},{"b":1}],"7":[1]}'
  )
  odd['\n'] = [null, { a: [] }, [], 5]
  odd['];throw 1;//'] = [{ a: { b: 1 } }, { a: { b: 2 } }]
  odd.at = new Date(7)
  odd.ids = [new ObjectId(), new ObjectId()]
  checkCopies(plans, odd)
})

test('keys that Object.prototype has, too, are copied', () => {
  const plans = new CopyPlans()
  const document = JSON.parse('{"__proto__":{"a":1},"constructor":5,"toString":{"valueOf":1}}') as Document
  checkCopies(plans, document)
  assert.ok(Object.hasOwn(copyByPlan(document, plans.planOf(document)), '__proto__'))
})

test('later additions to Object.prototype change no copy', () => {
  const plans = new CopyPlans()
  const document: Document = { _id: 1, inner: { late: [1] }, late: 5 }
  checkCopies(plans, document)
  assert.ok(isMadeByConstructor(plans, document))
  const plan = plans.planOf(document)
  Object.defineProperty(Object.prototype, 'late', { set: () => {}, get: () => 'inherited', configurable: true })
  try {
    plans.check()
    const copy = copyByPlan(document, plan)
    assert.equal(Object.entries(copy), Object.entries(document))
    assert.equal(Object.entries(copy.inner as Document), [['late', [1]]])
  } finally {
    delete (Object.prototype as Document).late
  }
})

test('documents are copied even where code generation from text is forbidden', () => {
  const plans = new CopyPlans()
  const original = globalThis.Function
  globalThis.Function = class {
    constructor() {
      throw new EvalError('Code generation from strings disallowed for this context')
    }
  } as unknown as FunctionConstructor
  try {
    checkCopies(plans, { _id: 1, inner: { a: [{ b: 1 }] } })
  } finally {
    globalThis.Function = original
  }
  assert.not(isMadeByConstructor(plans, { _id: 1, inner: { a: [{ b: 1 }] } }))
})

test('any number of structures can be copied, and only a limited number of plans is kept', () => {
  const plans = new CopyPlans()
  for (let n = 0; n < 10_000; n++) {
    const document = { _id: n, [`key ${n}`]: { [`inner ${n}`]: [{ n }] } }
    assert.equal(copyByPlan(document, plans.planOf(document)), document)
  }
  const one = plans.planOf({ 'never met': 1 })
  assert.is(one, plans.planOf({ 'never met either': { a: 1 } }))
})

test.run()
