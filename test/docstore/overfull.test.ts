/** Documents with more pairs than the index stores per document: it must not exclude them by the missing ones. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open } from '../../src/index.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { scratchPath } from './scratch.ts'

const segmentBits = 512
const last = 20_999
/** Fields after the list are beyond the pairs that the index stores. */
const overfull = { list: Array.from({ length: last + 1 }, (_, i) => i), kind: 'frequent', size: 'large' }
const documentOf = (_id: number) =>
  _id % 600 === 3 ? { _id, ...overfull } : { _id, list: [_id, last + 1], kind: 'frequent', size: 'small' }

const questions: readonly Document[] = [
  { list: last },
  { list: 7 },
  { list: { $elemMatch: { $gt: last - 1, $lt: last + 1 } } },
  { size: 'large' },
  { kind: 'frequent', size: 'large' },
  { size: { $ne: 'small' } },
  { size: { $ne: 'large' } },
  { list: { $ne: last } },
  { $nor: [{ list: last }] },
  // Frequent pairs have private rows, which are exact except for such documents.
  { kind: 'frequent' },
  { kind: { $ne: 'frequent' } },
  { kind: { $exists: false } },
  { absent: 1 }
]

async function check(db: Database, documents: readonly Document[], state: string): Promise<void> {
  for (const filter of questions) {
    const matches = compileFilter(filter)
    const expected = documents.filter((document) => matches.matches(document)).map(({ _id }) => _id)
    const shown = `${JSON.stringify(filter)}, ${state}`
    const found = await db.find(filter, { projection: { _id: 1 } }).toArray()
    assert.equal(
      found.map(({ _id }) => _id),
      expected,
      shown
    )
    assert.is(await db.countDocuments(filter), expected.length, `count: ${shown}`)
  }
}

test('a document with only some pairs indexed is found by all of them, in every state of its segment', async () => {
  const location = scratchPath()
  const options = { index: { kind: 'sharded', segmentBits } } as const
  const documents: Document[] = []
  let db = await open(location, options)
  for (const count of [8, 2 * segmentBits, 300]) {
    const more = Array.from({ length: count }, (_, i) => documentOf(documents.length + i))
    documents.push(...more)
    await db.insertMany(more)
    await check(db, documents, `${documents.length} documents`)
    await db.close()
    db = await open(location, options)
    await check(db, documents, `${documents.length} documents, opened again`)
  }
  await db.close()
})

test.run()
