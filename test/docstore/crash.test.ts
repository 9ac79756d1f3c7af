/** After kill -9, every acknowledged write is kept, once, and the index finds exactly what a scan finds. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, open } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { linesOf, runUntilKilled } from '../support/killed-program.ts'
import { program } from '../support/program.ts'
import { randomFrom } from '../support/random.ts'
import { scratchPath } from './scratch.ts'

const random = randomFrom(testSeed())
const script = program('test/docstore/insert-until-killed.ts')

/** Lets the child write for a while, kills it, and returns the lines that it logged as acknowledged. */
async function writeAndKill(
  location: string,
  mode: string,
  ids: string,
  offset: number,
  milliseconds: number
): Promise<string[]> {
  const log = `${location}.log`
  await runUntilKilled(script, [location, mode, log, String(offset), ids], milliseconds)
  return linesOf(log)
}

const filters = [
  { n: 3 },
  { n: 100 },
  { tags: 2, n: { $ne: 4 } },
  { version: 1 },
  { text: 'text of 12' },
  { n: { $nin: [1, 2] } }
]

async function assertConsistent(db: Database, acknowledged: ReadonlyMap<number, 'stored' | 'updated' | 'deleted'>) {
  const all = await db.find({}, { hint: 'scan' }).toArray()
  const byId = new Map(all.map((document) => [document._id, document]))
  assert.is(byId.size, all.length, 'an _id is stored once')
  for (const [id, what] of acknowledged) {
    const document = byId.get(id)
    if (what === 'deleted') assert.is(document, undefined, `${id} was deleted`)
    else assert.ok(document, `${id} was acknowledged`)
    if (what === 'updated') assert.is(document?.version, 1, `${id} was updated`)
  }
  assert.is(await db.estimatedDocumentCount(), all.length)
  assert.is(await db.countDocuments(), all.length)
  for (const filter of filters) {
    const scanned = await db.find(filter, { hint: 'scan' }).toArray()
    assert.equal(await db.find(filter).toArray(), scanned, JSON.stringify(filter))
    assert.is(await db.countDocuments(filter), scanned.length)
  }
  for (const document of all.slice(-50)) assert.equal(await db.get(document._id), document)
}

for (const [mode, ids] of [
  ['one', 'table'],
  ['many', 'table'],
  ['one', 'reversible'],
  ['many', 'reversible']
] as const) {
  test(`after kill -9 while inserting ${mode} at a time, acknowledged writes are kept, ids: '${ids}'`, async () => {
    const location = scratchPath()
    const acknowledged = new Map<number, 'stored' | 'updated' | 'deleted'>()
    for (let round = 0; round < 3; round++) {
      const lines = await writeAndKill(location, mode, ids, 100_000 * round, 100 + random() * 300)
      for (const line of lines) {
        const id = Number(line.slice(1))
        acknowledged.set(id, line[0] === '+' ? 'stored' : line[0] === '=' ? 'updated' : 'deleted')
      }
      assert.ok(lines.length > 0)
      // A deletion that was under way may have been applied without being acknowledged.
      const last = Number(lines.at(-1)?.slice(1))
      if (last % 11 === 0 && !lines.at(-1)?.startsWith('-')) acknowledged.delete(last - 1)
      const db = await open(location, { index: { segmentBits: 512 } })
      await assertConsistent(db, acknowledged)
      assert.equal((await db.verify()).problems, [])
      await db.close()
    }
  })
}

test.run()
