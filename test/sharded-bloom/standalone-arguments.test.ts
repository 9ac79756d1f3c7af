/** Invalid arguments of the standalone structure cause typed errors and change nothing. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PetalError } from '../../src/model/errors.ts'
import {
  and,
  type Expression,
  not,
  or,
  ShardedBloom,
  type ShardedBloomOptions
} from '../../src/sharded-bloom/standalone/index.ts'

const refuses = (call: () => unknown, codeName: string, message: RegExp): void =>
  assert.throws(call, (error: unknown) => {
    assert.instance(error, PetalError)
    assert.is((error as PetalError).codeName, codeName)
    assert.match((error as PetalError).message, message)
    return true
  })

const cycle: unknown[] = []
cycle.push(cycle)

test('options that are not an object are refused', () => {
  for (const options of [null, undefined, 5, 'text', true, [], () => 1, 5n]) {
    refuses(
      () => new ShardedBloom(options as never),
      'InvalidOptions',
      /^ShardedBloom takes options as an object, got /
    )
    if (options === undefined) continue
    const structure = new ShardedBloom({ shards: 8, bits: 64 })
    refuses(() => structure.stats(options as never), 'InvalidOptions', /^stats takes options as an object, got /)
  }
})

test('an option that there is not is refused by name, unless it is undefined', () => {
  const misspelt = { shards: 8, bits: 64, rowPerPair: 4 } as never
  refuses(() => new ShardedBloom(misspelt), 'InvalidOptions', /^ShardedBloom has no option 'rowPerPair'$/)
  const structure = new ShardedBloom({ shards: 8, bits: 64, rowPerPair: undefined } as never)
  refuses(() => structure.stats({ probs: 1 } as never), 'InvalidOptions', /^stats has no option 'probs'$/)
  assert.is(structure.stats({ probes: 0, ids: [] }).falsePositives.observed, undefined)
})

test('an option of the wrong type is refused by name', () => {
  for (const value of [null, 5n, cycle, 'text', {}, Symbol('s')]) {
    for (const option of [
      'shards',
      'bits',
      'counting',
      'tail',
      'hash',
      'seed'
    ] satisfies (keyof ShardedBloomOptions)[]) {
      const options = { shards: 8, bits: 64, [option]: value } as never
      refuses(() => new ShardedBloom(options), 'InvalidOptions', new RegExp(`^${option}: expected `))
    }
  }
})

test('values that are not expressions are refused', () => {
  const structure = new ShardedBloom({ shards: 8, bits: 64 })
  structure.add('id', [['a', 1]])
  for (const wrong of [
    null,
    undefined,
    5,
    5n,
    'text',
    {},
    cycle,
    { kind: 'xor' },
    { kind: 'and' },
    { kind: 'or', children: 5 }
  ]) {
    const expressions = [
      wrong,
      { kind: 'not', child: wrong },
      and(wrong as Expression),
      or(['a', 1], wrong as Expression)
    ]
    for (const expression of expressions) {
      refuses(
        () => structure.query(expression as Expression),
        'BadValue',
        /^(Expected|A pair must be|and\(\) takes|or\(\) takes)/
      )
    }
  }
  assert.equal(structure.query(['a', 1]).candidates(), ['id'])
})

test('values that are not lists of pairs, or not bytes, are refused', () => {
  const structure = new ShardedBloom({ shards: 64, bits: 1024, counting: true })
  for (const pairs of [null, undefined, 5, true, {}, () => 1, 5n]) {
    const refused = /^Pairs must be an iterable of \[key, scalar\], got /
    refuses(() => structure.add('x', pairs as never), 'BadValue', refused)
    refuses(() => structure.remove('x', pairs as never), 'BadValue', refused)
  }
  assert.is(structure.stats().ids, 0)
  for (const bytes of [null, undefined, 5, 'text', {}, [1], new ArrayBuffer(64), new Uint16Array(64)]) {
    refuses(() => ShardedBloom.deserialise(bytes as never), 'BadValue', /^deserialise takes a Uint8Array, got /)
  }
})

test('expressions may have any number of terms, and up to 1000 levels', () => {
  const structure = new ShardedBloom({ shards: 64, bits: 64 })
  structure.add('id', [['a', 1]])
  const many = Array.from({ length: 70_000 }, (): Expression => ['a', 1])
  assert.equal(structure.query({ kind: 'and', children: many }).candidates(), ['id'])
  assert.equal(structure.query({ kind: 'or', children: many }).candidates(), ['id'])
  const nested = (depth: number, nest: (inner: Expression) => Expression): Expression => {
    let expression: Expression = ['a', 1]
    for (let level = 0; level < depth; level++) expression = nest(expression)
    return expression
  }
  for (const nest of [not, (inner: Expression) => and(inner, ['a', 1]), (inner: Expression) => or(['a', 1], inner)]) {
    assert.equal(structure.query(nested(1000, nest)).candidates(), ['id'])
    for (const depth of [1001, 10_000, 100_000]) {
      refuses(() => structure.query(nested(depth, nest)), 'BadValue', /nested deeper than 1000 levels/)
    }
  }
})

test.run()
