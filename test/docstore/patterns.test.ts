/** Patterns given as strings match the same by index, by declared index, by a scan, and in imported lines. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type FindOptions, open } from '../../src/index.ts'

const texts = [
  'kelvin scale',
  'KELVIN SCALE',
  '\u212aelvin \u017fcale',
  '😀',
  '😀 kelvin',
  '😂',
  'ab😀c',
  'ab😁c',
  'ab\ud83d',
  'größe',
  'p{L}',
  'a\nb'
]
/** Pattern, options, and the texts that match. */
const cases: readonly (readonly [pattern: string, options: string, found: readonly number[]])[] = [
  ['^kelvin', 'i', [0, 1, 2]],
  ['kelvin', 'i', [0, 1, 2, 4]],
  ['kelvin', '', [0, 4]],
  ['^kelvin', '', [0]],
  ['(?i)^kelvin\\ scale$', '', [0, 1, 2]],
  ['SCALE', 'i', [0, 1, 2]],
  ['KELVIN # of any case', 'ix', [0, 1, 2, 4]],
  ['^.$', '', [3, 5]],
  ['^😀', '', [3, 4]],
  ['^😀?', '', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
  ['^[😀-😁]$', '', [3]],
  ['^ab😀?c', '', [6]],
  ['^ab.c', '', [6, 7]],
  ['^ab\ud83d', '', [8]],
  ['^ab', '', [6, 7, 8]],
  ['^\\p{L}+$', '', [9]],
  ['^a.b', 's', [11]],
  ['^b', 'm', [11]],
  ['^p{L}', '', [10]]
]

async function check(db: Database, claim: string, hints: readonly FindOptions['hint'][]): Promise<void> {
  for (const [$regex, $options, expected] of cases) {
    for (const hint of hints) {
      const found = await db.find({ a: { $regex, $options } }, { ...(hint !== undefined && { hint }) }).toArray()
      assert.equal(
        found.map(({ _id }) => _id),
        expected,
        `${claim} /${$regex}/${$options} ${String(hint)}`
      )
    }
  }
}

test('patterns match the same by index, declared index and scan', async () => {
  const db = await open('unused', { store: 'memory' })
  await db.insertMany(texts.map((a, _id) => ({ _id, a })))
  await check(db, 'inserted', [undefined, 'scan', 'index'])
  await db.createIndex({ a: 1 })
  await check(db, 'declared', [undefined, 'a_1'])
  await db.close()
})

test('patterns match imported lines with and without escapes', async () => {
  const escaped = (text: string) =>
    text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  for (const spell of [(text: string) => text, escaped]) {
    const db = await open('unused', { store: 'memory' })
    const lines = texts.map((a, _id) => `{"_id":${_id},"a":${spell(JSON.stringify(a))}}\n`)
    await db.importLines([Buffer.from(lines.join(''))])
    await check(db, 'imported', [undefined, 'scan', 'index'])
    await db.close()
  }
})

test('explain() shows the pattern as it was given', async () => {
  const db = await open('unused', { store: 'memory' })
  await db.insertOne({ a: 'kelvin' })
  const { queryPlanner } = await db.find({ a: { $regex: '^kel\\-', $options: 'i' } }).explain()
  assert.is(queryPlanner.winningPlan.filter, '{"a":{"$regex":"^kel\\\\-","$options":"i"}}')
  await db.close()
})

test('stored patterns are distinguished by source and options', async () => {
  const db = await open('unused', { store: 'memory' })
  await db.insertMany([
    { _id: 1, a: /^kel/i },
    { _id: 2, a: /^kel/iu },
    { _id: 3, a: /^kel/ }
  ])
  for (const hint of ['scan', 'index'] as const) {
    const found = await db.find({ a: { $regex: '^kel', $options: 'i' } }, { hint }).toArray()
    assert.equal(
      found.map(({ _id }) => _id),
      [1],
      hint
    )
  }
  await db.close()
})

test.run()
