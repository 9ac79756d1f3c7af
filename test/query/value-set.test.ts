/** A set of values has what MongoDB considers equal to a member, and finds it without comparing with every member. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { equalValues } from '../../src/model/compare.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { ValueSet } from '../../src/query/value-set.ts'
import { adversarial, testSeed, values } from '../support/arbitraries.ts'
import { cpuMilliseconds } from '../support/cpu-time.ts'

const seed = testSeed()

function asListSays(members: readonly unknown[], value: unknown): boolean {
  return members.some((member) => equalValues(member, value))
}

test('has() and add() agree with comparing each member', () => {
  const value = values(adversarial, 2)
  let found = 0
  let asked = 0
  fc.assert(
    fc.property(fc.array(value, { maxLength: 60 }), fc.array(value, { maxLength: 20 }), (members, others) => {
      const set = new ValueSet()
      const added: unknown[] = []
      for (const member of members) {
        const isNew = !asListSays(added, member)
        assert.is(set.add(member), isNew)
        if (isNew) added.push(member)
      }
      for (const other of [...others, ...members, undefined]) {
        const isThere = asListSays(members, other)
        assert.is(set.has(other), isThere)
        asked++
        if (isThere) found++
      }
    }),
    { seed, numRuns: 3000 }
  )
  assert.ok(found > asked / 10 && found < asked)
})

test('members of equal size that differ only inside are found, and so are those too deep for a key', () => {
  const long = 'x'.repeat(1 << 20)
  const deep = (depth: number, inside: unknown): unknown => (depth === 0 ? inside : { a: deep(depth - 1, inside) })
  const members: unknown[] = []
  for (let i = 0; i < 20; i++)
    members.push({ a: i, b: long }, { a: { b: [i] } }, [i, 'x'], deep(150, i), { b: i, a: i })
  const set = new ValueSet(members)
  for (const member of members) assert.ok(set.has(member))
  for (const other of [
    { a: 20, b: long },
    { a: { b: [20] } },
    ['x', 0],
    deep(150, 20),
    deep(149, 1),
    { a: 1, b: 1 },
    { a: 3 },
    [3],
    [],
    {}
  ]) {
    assert.not(set.has(other))
  }
  assert.ok(set.has({ a: { b: [7n] } }))
  assert.ok(set.has({ b: 7, c: undefined, a: 7 }))
})

for (const [name, member] of Object.entries({
  objects: (i: number) => ({ a: i, b: 'x' }),
  arrays: (i: number) => [i, 'x'],
  'nested objects': (i: number) => ({ a: { b: [i] } })
})) {
  test(`$in of many ${name} is compiled and evaluated without comparing each with each`, () => {
    const count = 8000
    const before = cpuMilliseconds()
    const { matches } = compileFilter({ x: { $in: Array.from({ length: count }, (_, i) => member(i)) } })
    for (let i = 0; i < 200; i++) assert.is(matches({ x: member(count - 100 + i) }), i < 100)
    const took = cpuMilliseconds() - before
    assert.ok(took < 1500, `${took} ms`)
  })
}

test.run()
