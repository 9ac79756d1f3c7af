/** The filter implied by an expression matches every document for which the expression is true. */
import { inspect } from 'node:util'
import { ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Expressions } from '../../src/aggregate/expression.ts'
import { impliedFilter } from '../../src/aggregate/implied-filter.ts'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { anyDocument, anyValue, scalar, seedOfRun } from '../support/values.ts'

const seed = seedOfRun()
const none = (): undefined => undefined

const cases: readonly (readonly [expression: unknown, implied: unknown])[] = [
  [{ $eq: ['$a.b', 5] }, { 'a.b': { $eq: 5 } }],
  [{ $eq: [5, '$a'] }, { a: { $eq: 5 } }],
  [{ $eq: ['$a', { $literal: '$5' }] }, { a: { $eq: '$5' } }],
  [{ $in: ['$a', [1, 'x', null]] }, { a: { $in: [1, 'x', null] } }],
  [{ $and: [{ $eq: ['$a', 1] }, { $gt: ['$b', '$c'] }] }, { a: { $eq: 1 } }],
  [{ $or: [{ $eq: ['$a', 1] }, { $eq: ['$b', 2] }] }, { $or: [{ a: { $eq: 1 } }, { b: { $eq: 2 } }] }],
  // Nothing is implied if one alternative, or a computed value, is unknown.
  [{ $or: [{ $eq: ['$a', 1] }, { $gt: ['$b', '$c'] }] }, undefined],
  [{ $eq: ['$a', '$b'] }, undefined],
  [{ $eq: ['$a', { $add: [1, 1] }] }, undefined],
  [{ $eq: ['$a', [1]] }, undefined],
  [{ $eq: ['$a', '$$known'] }, { a: { $eq: 7 } }],
  [{ $eq: ['$a', '$$unknown'] }, undefined],
  [{ $eq: ['$a', '$$known.b'] }, undefined],
  [{ $ne: ['$a', 1] }, undefined],
  [{ $not: [{ $eq: ['$a', 1] }] }, undefined],
  [{ $gt: ['$a', Number.NaN] }, undefined],
  [{ $gt: ['$a', new ObjectId()] }, undefined],
  [true, undefined],
  ['$a', undefined]
]

for (const [expression, implied] of cases) {
  test(`${inspect(expression, { depth: 9 })} implies ${inspect(implied, { depth: 9 })}`, () => {
    assert.equal(
      impliedFilter(expression, (name) => (name === 'known' ? 7 : undefined)),
      implied
    )
  })
}

test('a variable whose value differs between evaluations is not treated as a constant', () => {
  const expressions = new Expressions({ x: 1, y: 2 })
  const place = { stage: '$expr' }
  assert.equal(expressions.condition({ $eq: ['$a', '$$x'] }, place).implied, { a: { $eq: 1 } })
  expressions.withVariables(['x'], () => {
    assert.is(expressions.condition({ $eq: ['$a', '$$x'] }, place).implied, undefined)
    assert.equal(expressions.condition({ $eq: ['$a', '$$y'] }, place).implied, { a: { $eq: 2 } })
  })
  assert.equal(expressions.condition({ $eq: ['$a', '$$x'] }, place).implied, { a: { $eq: 1 } })
})

const path = fc.constantFrom('$a', '$b', '$a.b', '$a.0', '$a.b.c', '$0')
const constant = fc.oneof(
  fc.constantFrom<unknown>(0, 1, 1n, -1, Number.NaN, null, true, '', 'a', new Date(0)),
  scalar.map(($literal) => ({ $literal }))
)
const comparison = fc
  .tuple(fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte'), path, constant, fc.boolean())
  .map(([operator, left, right, isFlipped]) => ({ [operator]: isFlipped ? [right, left] : [left, right] }))
const membership = fc.tuple(path, fc.array(constant, { maxLength: 3 })).map((operands) => ({ $in: operands }))
const condition: fc.Arbitrary<Document> = fc.letrec((tie) => ({
  condition: fc.oneof({ depthSize: 'small', maxDepth: 3 }, comparison, membership, tie('and'), tie('or')),
  and: fc.array(tie('condition'), { maxLength: 3 }).map(($and) => ({ $and })),
  or: fc.array(tie('condition'), { maxLength: 3 }).map(($or) => ({ $or }))
})).condition as fc.Arbitrary<Document>

/** Documents that usually have the paths of the conditions. */
const document = fc.oneof(
  anyDocument,
  fc.dictionary(
    fc.constantFrom('a', 'b', '0'),
    fc.oneof(
      anyValue,
      fc.dictionary(fc.constantFrom('b', '0', 'c'), anyValue, { noNullPrototype: true }),
      fc.array(fc.dictionary(fc.constantFrom('b', '0', 'c'), anyValue, { noNullPrototype: true }), { maxLength: 2 })
    ),
    { noNullPrototype: true }
  )
)

test('documents for which an expression is true match the implied filter', async () => {
  let implied = 0
  await fc.assert(
    fc.asyncProperty(condition, fc.array(document, { minLength: 8, maxLength: 8 }), async (expression, documents) => {
      const expressions = new Expressions()
      const { evaluate, implied: filter } = expressions.condition(expression, { stage: '$expr' })
      assert.equal(filter, impliedFilter(expression, none))
      if (filter === undefined) return
      await expressions.load()
      const { matches } = compileFilter(filter)
      for (const each of documents) {
        if (evaluate(each) !== true) continue
        implied++
        if (!matches(each))
          assert.unreachable(`${inspect(each, { depth: 9 })} does not match ${inspect(filter, { depth: 9 })}`)
      }
    }),
    { seed, numRuns: 3000 }
  )
  assert.ok(implied > 500, `${implied} documents`)
})

test.run()
