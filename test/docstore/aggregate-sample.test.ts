/** `$sample` at the beginning of a pipeline: uniform, without repetition, and without reading much more than it returns. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AggregationPipeline, type Database, type Document, open } from '../../src/index.ts'
import { scratchPath } from './scratch.ts'

const count = 1000

async function filled(options: Document = {}): Promise<Database> {
  const db = await open(scratchPath(), { store: 'memory', index: { segmentBits: 512 }, ...options })
  await db.insertMany(
    Array.from({ length: count }, (_, i) => ({ _id: i, parity: i % 2 === 0 ? 'even' : 'odd', rare: `r${i % 300}`, i }))
  )
  // Ordinals are not consecutive.
  await db.deleteMany({ _id: { $gte: 300, $lt: 320 } })
  return db
}

const reads: readonly (readonly [name: string, filter: Document, isMatch: (i: number) => boolean])[] = [
  ['all documents', {}, () => true],
  ['certain matches', { parity: 'even' }, (i) => i % 2 === 0],
  ['a third of the candidates', { i: { $mod: [3, 0] } }, (i) => i % 3 === 0],
  ['a third of certain candidates', { parity: 'even', i: { $mod: [3, 0] } }, (i) => i % 6 === 0]
]

test('every match is as likely as any other to be in a sample, and none is in it twice', async () => {
  const db = await filled()
  for (const [name, filter, isMatch] of reads) {
    const matches = Array.from({ length: count }, (_, i) => i).filter((i) => isMatch(i) && (i < 300 || i >= 320))
    for (const size of [1, 5]) {
      const frequency = new Map(matches.map((i) => [i, 0]))
      const firsts = new Map(matches.map((i) => [i, 0]))
      const samples = Math.ceil((40 * matches.length) / size)
      for (let n = 0; n < samples; n++) {
        const ids = (await db.aggregate([{ $match: filter }, { $sample: { size } }]).toArray()).map(({ _id }) => _id)
        assert.is(new Set(ids).size, size)
        for (const id of ids) frequency.set(id as number, frequency.get(id as number)! + 1)
        firsts.set(ids[0] as number, firsts.get(ids[0] as number)! + 1)
      }
      assert.is(frequency.size, matches.length, `${name}: only matches`)
      assertUniform([...frequency.values()], `${name}, ${size}`)
      assertUniform([...firsts.values()], `${name}, first of ${size}`)
    }
  }
  await db.close()
})

/** Six standard deviations of χ²: false alarms are rarer than one in a hundred million. */
function assertUniform(counts: readonly number[], what: string): void {
  const expected = counts.reduce((sum, each) => sum + each, 0) / counts.length
  const chiSquare = counts.reduce((sum, each) => sum + (each - expected) ** 2 / expected, 0)
  const freedom = counts.length - 1
  assert.ok(chiSquare < freedom + 6 * Math.sqrt(2 * freedom), `${what}: χ² is ${chiSquare} with ${freedom} degrees`)
}

test('a sample reads little more than it returns', async () => {
  const db = await filled()
  const fetched = async (pipeline: AggregationPipeline): Promise<number | undefined> => {
    const { read, nReturned } = await db.aggregate(pipeline).explain()
    assert.is(nReturned, 10)
    return read?.executionStats.totalDocsExamined
  }
  const sample = { $sample: { size: 10 } }
  assert.is(await fetched([sample]), 10)
  assert.is(await fetched([{ $match: { parity: 'odd' } }, sample, { $project: { i: 1 } }]), 10)
  assert.is(await fetched([{ $sample: { size: 20 } }, { $limit: 10 }]), 20)
  assert.equal((await db.aggregate([sample]).explain()).pushedDown, ['$sample (stage 0)'])
  await db.close()
})

test('a sample of more than there are is all of them, in random order', async () => {
  for (const options of [
    {},
    { index: 'none' },
    { store: 'lsm', lsm: { values: true }, index: 'embedded' },
    { ids: 'reversible' }
  ]) {
    const db = await filled(options)
    await db.createIndex({ i: 1 })
    for (const [filter, expected] of [
      [{}, 980],
      [{ rare: 'r7' }, 3],
      [{ i: { $gte: 990 } }, 10],
      [{ _id: { $in: [1, 2, 310] } }, 2],
      [{ _id: -1 }, 0]
    ] as const) {
      const found = await db.aggregate([{ $match: filter }, { $sample: { size: 5000 } }]).toArray()
      assert.equal(new Set(found.map(({ _id }) => _id)).size, expected)
      assert.is(found.length, expected)
      if (expected > 100) {
        const ascents = found.filter(({ i }, at) => at > 0 && (found[at - 1]!.i as number) < (i as number)).length
        assert.ok(ascents > 0.3 * expected && ascents < 0.7 * expected, `${ascents} ascents`)
      }
    }
    const few = await db.aggregate([{ $match: { parity: 'odd' } }, { $sample: { size: 3 } }]).toArray()
    assert.ok(few.length === 3 && few.every(({ parity }) => parity === 'odd'))
    await db.close()
  }
})

test('a sample belongs to its caller, and sees one snapshot', async () => {
  const db = await filled()
  const cursor = db.aggregate<Document>([{ $sample: { size: 10 } }])
  const first = await cursor.next()
  await db.deleteMany({})
  first!.parity = 'changed'
  assert.is((await cursor.toArray()).length, 9)
  assert.equal(await db.aggregate([{ $sample: { size: 10 } }]).toArray(), [])
  await db.close()
})

test.run()
