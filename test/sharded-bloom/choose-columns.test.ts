/** Columns are chosen as by a naive implementation that looks at all values of a path and type at once. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compareStrings } from '../../src/model/compare.ts'
import { runSteps } from '../../src/model/time-slice.ts'
import { Type } from '../../src/model/types.ts'
import { type ColumnSample, columnSteps, type RangeCodes } from '../../src/sharded-bloom/ranges/choose-columns.ts'
import { chooseTextForm } from '../../src/sharded-bloom/ranges/choose-text-form.ts'
import type { ColumnSpec } from '../../src/sharded-bloom/ranges/column-spec.ts'
import { type TextForm, textKey } from '../../src/sharded-bloom/ranges/range-key.ts'
import { testSeed } from '../support/arbitraries.ts'

interface Value {
  readonly path: string
  readonly tag: number
  readonly key: number | string
}

/** Numbers the distinct values. */
function sampleOf(documents: readonly (readonly Value[])[]): ColumnSample {
  const all: Value[] = []
  const numbers = new Map<string, number>()
  const members: number[] = []
  const starts = [0]
  for (const values of documents) {
    const own = new Set<number>()
    for (const value of values) {
      const name = JSON.stringify([value.path, value.tag, value.key])
      if (!numbers.has(name)) numbers.set(name, all.push(value) - 1)
      own.add(numbers.get(name)!)
    }
    members.push(...own)
    starts.push(members.length)
  }
  const paths = [...new Set(all.map(({ path }) => path))]
  return {
    size: documents.length,
    members: Int32Array.from(members),
    startOf: (document) => starts[document]!,
    values: {
      path: (number) => all[number]!.path,
      tag: (number) => all[number]!.tag,
      key: (number) => all[number]!.key,
      pathAndTag: (number) => paths.indexOf(all[number]!.path) * 256 + all[number]!.tag
    }
  }
}

function chosen(
  documents: readonly (readonly Value[])[],
  choice: RangeCodes,
  earlier: readonly ColumnSpec[] = []
): ColumnSpec[] {
  return runSteps(columnSteps(sampleOf(documents), choice, earlier))
}

/**
 * Paths and types that the rules choose: mostly one value per document, enough different ones; texts that grow.
 * @param earlier paths of texts that were chosen before
 */
function expected(
  documents: readonly (readonly Value[])[],
  choice: RangeCodes,
  earlier: readonly string[]
): Set<string> {
  const byName = new Map<string, { tag: number; keys: (number | string)[][] }>()
  for (const values of documents) {
    const own = new Map<string, Set<number | string>>()
    for (const { path, tag, key } of values) {
      const name = `${tag} ${path}`
      byName.set(name, byName.get(name) ?? { tag, keys: [] })
      own.set(name, (own.get(name) ?? new Set()).add(key))
    }
    for (const [name, keys] of own) byName.get(name)!.keys.push([...keys])
  }
  const names = new Set<string>()
  for (const [name, { tag, keys }] of byName) {
    const isText = tag === Type.string
    if (tag !== Type.number && tag !== Type.date && (!isText || choice === 'numbers')) continue
    const flat = keys.flat()
    const single = keys.filter(({ length }) => length === 1).length
    const lag = Math.max(1, Math.floor(documents.length / 16))
    if (isText && choice === 'auto' && !earlier.includes(name.slice(name.indexOf(' ') + 1)) && !doGrow(flat, lag))
      continue
    const distinct = new Set(flat).size
    if (single * 64 < documents.length || single * 2 < keys.length || distinct < 4) continue
    if (isText && distinct * 8 < keys.length) continue
    names.add(name)
  }
  return names
}

/** Keys never decrease, or few are below the key `lag` places earlier; too many at the start already decide. */
function doGrow(keys: readonly (number | string)[], lag: number): boolean {
  if (keys.every((key, i) => i === 0 || !isBelow(key, keys[i - 1]!))) return true
  let above = 0
  let below = 0
  for (let i = lag; i < keys.length; i++) {
    if (isBelow(keys[i]!, keys[i - lag]!)) below++
    else if (isBelow(keys[i - lag]!, keys[i]!)) above++
    if (below > 2 + above / 4) return false
  }
  return above > 0 && below <= above / 4
}

function isBelow(a: number | string, b: number | string): boolean {
  return typeof a === 'string' ? compareStrings(a, String(b)) < 0 : a < Number(b)
}

const keys = fc.oneof(
  fc.record({ tag: fc.constant(Type.number), key: fc.oneof(fc.integer({ min: -3, max: 9 }), fc.double()) }),
  fc.record({ tag: fc.constant(Type.date), key: fc.integer() }),
  fc.record({ tag: fc.constant(Type.string), key: fc.oneof(fc.string({ maxLength: 3 }), fc.constant('')) }),
  fc.record({ tag: fc.constantFrom(Type.bool, Type.null), key: fc.constant(0) })
)
const value: fc.Arbitrary<Value> = fc
  .tuple(fc.constantFrom('a', 'b', 'c.d'), keys)
  .map(([path, { tag, key }]) => ({ path, tag, key }))
/** Arbitrary values, and a number and texts that grow, or grow only at first. */
const documents = fc
  .tuple(fc.array(fc.array(value, { maxLength: 5 }), { maxLength: 40 }), fc.integer({ min: 0, max: 40 }))
  .map(([arrays, until]) =>
    arrays.map((values, i) => [
      ...values,
      { path: 'n', tag: Type.number, key: Math.min(i, until) },
      { path: 't', tag: Type.string, key: `at ${String(i < until ? i : 99 - i).padStart(3, '0')}` },
      // More or less out of order.
      { path: 'u', tag: Type.string, key: `at ${String(i + ((i * 7) % (until + 1))).padStart(3, '0')}` }
    ])
  )

test('the chosen columns are those of paths whose values are worth one', () => {
  for (const choice of ['auto', 'numbers', 'all'] as const) {
    const property = fc.property(documents, fc.subarray(['a', 'b', 't', 'u']), (sample, earlier) => {
      const specs = earlier.map((path): ColumnSpec => ({ path, type: Type.string, prefix: 'x', template: '' }))
      const names = chosen(sample, choice, specs).map(({ path, type }) => `${type} ${path}`)
      assert.equal(new Set(names), expected(sample, choice, earlier))
    })
    fc.assert(property, { seed: testSeed(), numRuns: 300 })
  }
})

test('growing texts omit the common prefix of the first and the last, except its last three characters', () => {
  const sample = Array.from({ length: 100 }, (_, i) => [
    { path: 'at', tag: Type.string, key: `chapter-${String.fromCharCode(97 + Math.floor(i / 10))}${i % 10}: x` }
  ])
  assert.equal(chosen(sample, 'auto'), [{ path: 'at', type: Type.string, prefix: 'chapt', template: '' }])
  assert.equal(chosen(sample, 'numbers'), [])
  assert.equal(chosen(sample, 'none'), [])
})

test('texts that nearly grow get a column like those that grow, any others only if they had one before', () => {
  const textsOf = (keyOf: (i: number) => number): Value[][] =>
    Array.from({ length: 400 }, (_, i) => [{ path: 'at', tag: Type.string, key: `2026-11-${1000 + keyOf(i)}` }])
  // Out of order among some twenty neighbours; two series, one after the other.
  const late = textsOf((i) => i + ((i * 7) % 20))
  const twice = textsOf((i) => (i % 200) * 2)
  const random = textsOf((i) => (i * 173) % 400)
  const column: ColumnSpec = { path: 'at', type: Type.string, prefix: '', template: '0000-00-0000' }
  assert.equal(chosen(late, 'auto'), [column])
  assert.equal(chosen(twice, 'auto'), [column])
  assert.equal(chosen(random, 'auto'), [])
  const earlier: ColumnSpec[] = [{ path: 'at', type: Type.string, prefix: '2025-', template: '' }]
  assert.equal(chosen(random, 'auto', earlier), [column])
  assert.equal(chosen(random, 'numbers', earlier), [])
})

test('digits between separators have a template, and the prefix is no longer than their room requires', () => {
  const formOf = (textOf: (i: number) => string): TextForm =>
    chooseTextForm(
      Array.from({ length: 100 }, (_, i) => textOf(i)),
      true,
      true
    )
  const isoDate = (apart: number) => (i: number) => new Date(Date.UTC(2025, 11, 31, 20) + i * apart).toISOString()
  // A quarter of a second apart: the year may yet change.
  assert.equal(formOf(isoDate(250)), { prefix: '202', template: '0-00-00T00:00:00.000Z' })
  assert.equal(formOf(isoDate(10_000)), { prefix: '20', template: '00-00-00T00:00:00.00' })
  assert.equal(formOf(isoDate(86_400_000)), { prefix: '', template: '0000-00-00T00:00:00.' })
  assert.equal(
    formOf((i) => isoDate(1000)(i).slice(0, 19)),
    { prefix: '', template: '0000-00-00T00:00:00' }
  )
  assert.equal(
    formOf((i) => `#-${1000 + i}`),
    { prefix: '', template: '#-0000' }
  )
  assert.equal(
    formOf((i) => String(1_700_791_195_107_913 + i)),
    { prefix: '', template: '0000000000000000' }
  )
  // The common part is omitted as far as the digits need its room; texts without digits.
  const path = 'https://example.org/statuses/of/a/user/with/a/long/name/'
  assert.equal(
    formOf((i) => `${path}${10 ** 12 + i * 1e9}`),
    { prefix: path.slice(0, 40), template: `${path.slice(40)}0000000000` }
  )
  assert.equal(
    formOf((i) => `word ${String.fromCharCode(97 + Math.floor(i / 4))}`),
    { prefix: 'wo', template: '' }
  )
})

test('a letter that may count up is not a separator: texts with the next letter have different keys', () => {
  for (const textOf of [
    (i: number) => `AB-${String(i * 16).padStart(4, '0')}`,
    (i: number) => `a-${String(i * 900).padStart(5, '0')}`,
    (i: number) => `x${String.fromCharCode(97 + Math.floor(i / 400))}${10_000_000 + i * 800_000}`
  ]) {
    const form = chooseTextForm(
      Array.from({ length: 100 }, (_, i) => textOf(i)),
      true,
      true
    )
    const last = textOf(99)
    const letter = /[a-z](?=[^a-z]*$)/i.exec(last)!.index
    const behind = (i: number): string =>
      last.slice(0, letter) + String.fromCharCode(last.charCodeAt(letter) + 1) + textOf(i).slice(letter + 1)
    assert.ok(textKey(behind(90), form) > textKey(behind(0), form), JSON.stringify(form))
  }
})

test('only 512 documents of a large sample, or a few more, are examined', () => {
  let looked = 0
  const sample = sampleOf(Array.from({ length: 5000 }, (_, i) => [{ path: 'n', tag: Type.number, key: i }]))
  const { startOf } = sample
  const counting = {
    ...sample,
    startOf: (document: number): number => {
      looked++
      return startOf(document)
    }
  }
  assert.is(runSteps(columnSteps(counting, 'auto')).length, 1)
  assert.ok(looked >= 2 * 512 && looked <= 2 * 640, `${looked} borders of documents`)
})

test.run()
