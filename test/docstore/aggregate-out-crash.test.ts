/** Kill -9 in the middle of $out leaves the old content or the new one, never a mix, and nothing else. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createStore } from '../../src/docstore/store/open-store.ts'
import { open } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { linesOf, runUntilKilled } from '../support/killed-program.ts'
import { program } from '../support/program.ts'
import { randomFrom } from '../support/random.ts'
import { scratchPath } from './scratch.ts'

const random = randomFrom(testSeed())
const script = program('test/docstore/out-until-killed.ts')

/** Lets the child write for a while, then kills it. @returns the last generation that it reported */
async function writeAndKill(location: string, store: string, first: number, milliseconds: number): Promise<number> {
  const log = `${location}.log`
  await runUntilKilled(script, [location, store, log, String(first)], milliseconds)
  return Number(linesOf(log).at(-1) ?? first - 1)
}

/** Keys of the catalog, and numbers of the collections that have records, and of those that have a name. */
async function leftIn(location: string, store: 'lsm' | 'level') {
  const level = await createStore(store, location, {})
  await level.open()
  const decoder = new TextDecoder('latin1')
  const catalog: string[] = []
  const numbers = new Set<number>()
  let named: number[] = []
  try {
    for await (const [key, value] of level.iterator<Uint8Array, string>({
      keyEncoding: 'view',
      valueEncoding: 'utf8'
    })) {
      const [, area = '', rest = ''] = /^!([^!]+)!(.*)$/s.exec(decoder.decode(key)) ?? []
      if (area !== 'meta') numbers.add(Number.parseInt(area, 10))
      else catalog.push(rest)
      if (rest.startsWith('name:')) named = [...named, JSON.parse(value).number]
    }
  } finally {
    await level.close()
  }
  return { catalog, unfinished: catalog.filter((key) => /^(dropped|clearing):/.test(key)), numbers, named }
}

for (const store of ['lsm', 'level'] as const) {
  test(`kill -9 during $out leaves the old content or the new, and no other record: ${store}`, async () => {
    const location = scratchPath()
    let last = -1
    let interrupted = 0
    for (let round = 0; round < 6; round++) {
      const told = await writeAndKill(location, store, last + 1, random() * 150)
      if ((await leftIn(location, store)).unfinished.length > 0) interrupted++
      {
        await using db = await open(location, { store, index: { segmentBits: 512 } })
        const made = db.collection('made')
        const documents = await made.find({}, { hint: 'scan', sort: { _id: 1 } }).toArray()
        const [{ generation } = { generation: -1 }] = documents
        assert.ok(generation === told || generation === told + 1, `${told} was told, ${generation} is there`)
        assert.equal(
          documents,
          Array.from({ length: 1200 }, (_, i) => {
            return { _id: i, n: i % 7, text: `text of ${i}`, generation, key: i + (generation as number) }
          })
        )
        assert.is(await made.countDocuments(), 1200)
        for (const filter of [
          { n: 3 },
          { generation },
          { text: 'text of 700' },
          { key: 600 + (generation as number) }
        ]) {
          assert.equal(
            await made.find(filter).toArray(),
            documents.filter((document) => matches(document, filter))
          )
        }
        assert.equal(
          made.listIndexes().map(({ name }) => name),
          ['key_1']
        )
        assert.equal(
          db
            .listCollections()
            .map(({ name }) => name)
            .sort(),
          ['default', 'made']
        )
        assert.equal((await db.verify()).problems, [])
        last = generation as number
      }
      const { catalog, unfinished, numbers, named } = await leftIn(location, store)
      assert.equal(unfinished, [])
      assert.equal([...numbers].sort(), [...named].sort())
      assert.is(catalog.filter((key) => key.startsWith('state:')).length, 2)
    }
    console.log(`  ${interrupted} of 6 kills were in the midst`)
  })
}

function matches(document: Record<string, unknown>, filter: Record<string, unknown>): boolean {
  return Object.entries(filter).every(([key, value]) => document[key] === value)
}

test.run()
