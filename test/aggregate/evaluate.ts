/** Evaluates expressions on their own, singly and in tables. */
import { inspect } from 'node:util'
import * as assert from 'uvu/assert'
import { Expressions } from '../../src/aggregate/expression.ts'
import { PetalError } from '../../src/model/errors.ts'
import type { Document } from '../../src/model/types.ts'

/** Expressions and their results. */
export type Cases = readonly (readonly [expression: unknown, result: unknown])[]

export async function evaluate(expression: unknown, document: Document = {}): Promise<unknown> {
  const expressions = new Expressions()
  const compiled = expressions.compile(expression, { stage: '$set', position: 0 })
  await expressions.load()
  return compiled(document)
}

/** Asserts the results; numbers of different kinds differ. */
export async function gives(cases: Cases, document: Document = {}): Promise<void> {
  for (const [expression, result] of cases) {
    const found = await evaluate(expression, document).catch((error: unknown) => error)
    assert.is(inspect(found, { depth: 9 }), inspect(result, { depth: 9 }), inspect(expression, { depth: 9 }))
  }
}

/** Asserts that each expression fails, on compilation or for this document, with an error that names the stage. */
export async function refuses(expressions: readonly unknown[], document: Document = {}): Promise<void> {
  for (const expression of expressions) {
    const shown = inspect(expression, { depth: 9 })
    const error = await evaluate(expression, document).then(
      (found) => assert.unreachable(`${shown} gives ${inspect(found)}`),
      (reason: unknown) => reason
    )
    assert.instance(error, PetalError, shown)
    assert.match((error as PetalError).message, /^\$set \(stage 0\): /, shown)
  }
}
