/** `$reduce` adds to its value in place where nothing can tell, and copies it everywhere else. */
import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Expressions } from '../../src/aggregate/expression.ts'
import { cloneDocument } from '../../src/model/clone.ts'
import type { Document } from '../../src/model/types.ts'
import { cpuMilliseconds } from '../support/cpu-time.ts'
import { numbersBelow } from '../support/random.ts'
import { seedOfRun } from '../support/values.ts'
import { evaluate } from './evaluate.ts'

const seed = seedOfRun()

const place = { stage: '$set', position: 0 }

const tooLarge = Symbol('too large')

/** Evaluates an `in` for one element after the other, each time by itself, so that every value is a new one. */
async function fold(body: unknown, initial: unknown, elements: readonly unknown[], document: Document) {
  const expressions = new Expressions()
  const compiled = expressions.withVariables(['value', 'this'], () => expressions.compile(body, place))
  await expressions.load()
  let value = initial
  for (const element of elements) {
    Object.assign(expressions.variables, { value, this: element })
    value = compiled(document)
    if (sizeOf(value) > maxSize) return tooLarge
  }
  return value
}

type Below = ReturnType<typeof numbersBelow>

function pick<T>(below: Below, choices: readonly (() => T)[]): T {
  return (choices[below(choices.length)] as () => T)()
}

/** Any expression, of which some hold `$$value` and some only look at it. */
function operand(below: Below, depth: number): unknown {
  const inner = (): unknown => (depth > 0 ? operand(below, depth - 1) : ['$$this'])
  return pick<unknown>(below, [
    () => '$$this',
    () => ['$$this'],
    () => ({ a: '$$this' }),
    () => ({ b: { $size: { $ifNull: ['$$this.a', []] } } }),
    () => '$$value',
    () => ['$$value'],
    () => ({ c: '$$value' }),
    () => [inner()],
    () => ({ d: inner() }),
    () => '$list',
    () => '$object',
    () => ({ $literal: ['$$value'] }),
    () => [{ $cond: [{ $isArray: '$$value' }, { $last: '$$value' }, '$$value'] }],
    () => [{ $first: [{ $concatArrays: ['$list', ['$$value']] }] }],
    () => ({ $slice: ['$$value', -2] }),
    () => ({ $slice: [['$$value'], 1] }),
    () => ({ $concatArrays: [inner(), inner()] }),
    () => ({ $setUnion: ['$$value', inner()] }),
    () => ({ $mergeObjects: ['$$value', inner()] }),
    () => ({ $map: { input: '$$value', in: inner() } }),
    () => ({ $map: { input: ['$$this'], in: '$$value' } }),
    () => ({ $map: { input: ['$$value'], as: 'x', in: '$$x' } }),
    () => ({ $filter: { input: '$$value', as: 'value', cond: { $eq: ['$$value', inner()] } } }),
    () => ({
      $reduce: { input: '$list', initialValue: '$$value', in: depth > 0 ? body(below, depth - 1) : '$$value' }
    }),
    () => ({ $reduce: { input: '$$value', initialValue: [], in: { $concatArrays: ['$$value', [inner()]] } } }),
    () => ({ $let: { vars: { x: '$$value' }, in: ['$$x'] } }),
    () => ({ $getField: { field: 'c', input: '$$value' } }),
    () => [{ $ifNull: [{ $getField: { field: 'c', input: { c: '$$value' } } }, 0] }],
    () => null,
    () => '$none'
  ])
}

function body(below: Below, depth: number): unknown {
  const inner = (): unknown => (depth > 0 ? body(below, depth - 1) : '$$value')
  const operands = (): unknown[] => Array.from({ length: 1 + below(2) }, () => operand(below, depth))
  const condition = (): unknown =>
    pick<unknown>(below, [
      () => ({ $in: ['$$this', { $cond: [{ $isArray: '$$value' }, '$$value', []] }] }),
      () => ({ $eq: [{ $size: { $cond: [{ $isArray: '$$value' }, '$$value', []] } }, below(4)] }),
      () => ({ $gt: ['$$this', below(5)] }),
      () => '$$value'
    ])
  return pick<unknown>(below, [
    () => ({ $concatArrays: ['$$value', ...operands()] }),
    () => ({ $concatArrays: ['$$value', ['$$this']] }),
    () => ({ $setUnion: ['$$value', ...operands()] }),
    () => ({ $setUnion: ['$$value', ['$$this']] }),
    () => ({ $mergeObjects: ['$$value', ...operands()] }),
    () => ({ $mergeObjects: ['$$value', { $arrayToObject: [[['a', '$$this']]] }] }),
    () => ({ $cond: [condition(), inner(), inner()] }),
    () => ({
      $cond: Object.fromEntries([
        ['if', condition()],
        ['then', inner()],
        ['else', inner()]
      ])
    }),
    () => ({
      $switch: {
        branches: [
          Object.fromEntries([
            ['case', condition()],
            ['then', inner()]
          ])
        ],
        default: inner()
      }
    }),
    () => ({ $let: { vars: { x: operand(below, depth) }, in: inner() } }),
    () => ({ $let: { vars: { value: operand(below, depth) }, in: inner() } }),
    () => ({ $let: { vars: { x: '$$value' }, in: { $concatArrays: ['$$value', [['$$x']]] } } }),
    () => operand(below, depth),
    () => '$$value'
  ])
}

/** Values that hold themselves twice grow fast: reductions that go beyond this are left out. */
const maxSize = 100

function sizeOf(value: unknown, most = maxSize): number {
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  for (const each of Object.values(value)) {
    if (size > most) break
    size += sizeOf(each, most - size)
  }
  return size
}

test('any `in` gives what it gives when each element is evaluated by itself, and changes nothing else', async () => {
  const below = numbersBelow(seed)
  let compared = 0
  for (let i = 0; i < 3000; i++) {
    const elements = Array.from({ length: 1 + below(5) }, () =>
      pick<unknown>(below, [() => below(6), () => [below(3)]])
    )
    const document = { elements, list: [1, [2]], object: { a: 1, c: [3] }, initial: below(3) > 0 ? [7] : { a: 7 } }
    const before = cloneDocument(document)
    const reduction = { $reduce: { input: '$elements', initialValue: '$initial', in: body(below, 1) } }
    const expected = await fold(reduction.$reduce.in, document.initial, elements, before).catch(
      (error: unknown) => error
    )
    if (expected === tooLarge) continue
    const found = await evaluate(reduction, document).catch((error: unknown) => error)
    const shown = `seed ${seed} ${inspect([reduction, before], { depth: 30 })}`
    if (expected instanceof Error) assert.is((found as Error).message, expected.message, shown)
    else assert.equal(found, expected, shown)
    assert.equal(document, before, shown)
    if (!(expected instanceof Error)) compared++
  }
  assert.ok(compared > 1000, `${compared} without error`)
})

test('a value that is held as well as added to is copied', async () => {
  const document = { list: [1, 2, 3] }
  const reduce = (body: unknown, initialValue: unknown = []) =>
    evaluate({ $reduce: { input: '$list', initialValue, in: body } }, document)
  assert.equal(await reduce({ $concatArrays: ['$$value', ['$$value']] }), [[], [[]], [[], [[]]]])
  assert.equal(
    await reduce({ $concatArrays: ['$$value', [{ n: '$$value' }]] }).then((found) => (found as []).length),
    3
  )
  assert.equal(
    await reduce({ $let: { vars: { before: '$$value' }, in: { $concatArrays: ['$$value', ['$$before']] } } }),
    [[], [[]], [[], [[]]]]
  )
  assert.equal(await reduce({ $mergeObjects: ['$$value', { before: '$$value' }] }, {}), {
    before: { before: { before: {} } }
  })
})

test('the value of one document is not that of the next', async () => {
  const expressions = new Expressions()
  const body = { $concatArrays: ['$$value', ['$$this']] }
  const compiled = expressions.compile({ $reduce: { input: '$list', initialValue: ['$_id'], in: body } }, place)
  await expressions.load()
  const first = compiled({ _id: 1, list: [2, 3] })
  assert.equal(compiled({ _id: 4, list: [5] }), [4, 5])
  assert.equal(first, [1, 2, 3])
})

const idioms: Readonly<Record<string, Document>> = {
  'a list': { initialValue: [], in: { $concatArrays: ['$$value', ['$$this']] } },
  'a list of some': {
    initialValue: [],
    in: { $cond: [{ $eq: ['$$this', 5] }, '$$value', { $concatArrays: ['$$value', ['$$this']] }] }
  },
  'running totals': {
    initialValue: [0],
    in: { $concatArrays: ['$$value', [{ $add: [{ $last: '$$value' }, '$$this'] }]] }
  },
  'a set': { initialValue: [], in: { $setUnion: ['$$value', ['$$this']] } },
  'an object': {
    initialValue: {},
    in: { $mergeObjects: ['$$value', { $arrayToObject: [[[{ $toString: '$$this' }, 1]]] }] }
  },
  'a text': { initialValue: '', in: { $concat: ['$$value', { $toString: '$$this' }] } }
}

for (const [name, idiom] of Object.entries(idioms)) {
  test(`$reduce makes ${name} in time proportional to the number of elements`, async () => {
    // Copied for each element, the first takes 16 seconds and the others longer.
    const count = 100_000
    const before = cpuMilliseconds()
    const result = await evaluate({ $reduce: { input: { $range: [0, count] }, ...idiom } })
    const took = cpuMilliseconds() - before
    assert.ok(took < 3000, `${took.toFixed(0)} ms`)
    const { length } = typeof result === 'string' || Array.isArray(result) ? result : Object.keys(result as Document)
    assert.ok(length >= count - 1, `${length}`)
  })
}

test.run()
