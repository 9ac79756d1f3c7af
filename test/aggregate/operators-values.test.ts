/** Whatever its arguments, an operator returns nothing, a storable value, or an error that names the stage. */
import { inspect } from 'node:util'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Expressions } from '../../src/aggregate/expression.ts'
import { operators } from '../../src/aggregate/operators/all.ts'
import { PetalError } from '../../src/model/errors.ts'
import { checkId } from '../../src/model/key.ts'
import { adversarial, testSeed, values } from '../support/arbitraries.ts'

/** Names of arguments of some operators. */
const names = [
  'input',
  'in',
  'cond',
  'initialValue',
  'n',
  'sortBy',
  'date',
  'startDate',
  'endDate',
  'unit',
  'amount',
  'timezone',
  'format',
  'dateString',
  'year',
  'isoWeekYear',
  'month',
  'find',
  'replacement',
  'regex',
  'chars',
  'field',
  'value',
  'to',
  'p',
  'inputs'
]
/** Values with a special meaning for some operator. */
const meaningful = fc.constantFrom<unknown>(
  new Date('2024-01-31T10:00:00Z'),
  new Date(8.64e15),
  'Europe/Berlin',
  '%Y %z %j',
  'month',
  'hour',
  'long',
  1,
  -1,
  2n ** 63n - 1n,
  2 ** 31,
  '2024-02-30',
  'a+b',
  '\ud83d',
  [1, 'a'],
  [['k', 1]],
  { k: 'a', v: 1 }
)
const literal = fc.oneof(values(adversarial, 1), meaningful).map((value) => ({ $literal: value }))
const listed = fc.array(literal, { minLength: 1, maxLength: 4 })
const byName = fc
  .subarray(names, { minLength: 1, maxLength: 3 })
  .chain((keys) => fc.tuple(...keys.map((key) => fc.tuple(fc.constant(key), literal))).map(Object.fromEntries))

/** The key that an operator lacks, according to its error. */
function needed(error: PetalError): string | undefined {
  return /needs '(\w+)'/.exec(error.message)?.[1]
}

async function check(name: string, argument: unknown, fill: unknown): Promise<void> {
  const expressions = new Expressions()
  const shown = (): string => inspect({ [name]: argument }, { depth: 9 })
  try {
    const compiled = expressions.compile({ [name]: argument }, { stage: '$set', position: 0 })
    await expressions.load()
    const result = compiled({ a: 1 })
    assertStorable(result, shown)
  } catch (error) {
    assert.instance(error, PetalError, `${shown()}: ${inspect(error)}`)
    const { message } = error as PetalError
    assert.match(message, /^\$set \(stage 0\): /, shown())
    assert.not.match(message, /Cannot |is not a function|undefined/, shown())
    const key = needed(error as PetalError)
    if (key !== undefined && !Array.isArray(argument)) await check(name, { ...(argument as object), [key]: fill }, fill)
    const unknown = /has no option '(\w+)'/.exec(message)?.[1]
    if (unknown !== undefined) {
      const { [unknown]: _unknown, ...rest } = argument as Record<string, unknown>
      await check(name, rest, fill)
    }
  }
}

function assertStorable(result: unknown, shown: () => string): void {
  if (result === undefined) return
  if (result instanceof Date) assert.not(Number.isNaN(result.getTime()), shown())
  try {
    checkId({ value: result })
  } catch (error) {
    assert.unreachable(`${shown()} gives ${inspect(result)}: ${String(error)}`)
  }
}

test('whatever its arguments, an operator returns a value, or an error that says why not', async () => {
  const seed = testSeed()
  for (const name of operators.keys()) {
    if (name === '$function') continue
    await fc.assert(
      fc.asyncProperty(fc.oneof(listed, byName, literal), literal, (argument, fill) => check(name, argument, fill)),
      { numRuns: 50, seed }
    )
  }
})

test.run()
