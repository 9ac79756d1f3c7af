/** What a collection does whether its ids are stored in a table or computed. All ids are integers. */
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { copyDatabase, type Database, type Document, type IdsOption, open } from '../../src/index.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { FailingLevel } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'

const index = { segmentBits: 512 }
/** Where there are tables, documents in tables that are ruled out are no candidates. */
const lsm = { values: true }
const count = 1500
/** In no order, each once. */
const shuffled = Array.from({ length: count }, (_, i) => (i * 677) % count)
const document = (_id: number): Document => ({ _id, n: _id, tens: _id % 10, name: `name ${_id % 97}` })
const byId = (a: Document, b: Document): number => Number(a._id) - Number(b._id)
const idsOf = (documents: readonly Document[]): number[] =>
  documents.map(({ _id }) => Number(_id)).sort((a, b) => a - b)

export function idsCases(test: Test, ids: IdsOption): void {
  const claim = (title: string, run: (db: Database, path: string) => Promise<void>): void =>
    test(title, async () => {
      const path = scratchPath()
      await using db = await open(path, { ids, index })
      await run(db, path)
    })

  claim('ids in any order are stored and found, and refused the second time', async (db) => {
    await db.insertMany(shuffled.map(document))
    for (const id of [0, 1, 511, 512, count - 1]) {
      assert.equal(await db.get(id), document(id))
      assert.equal(await db.findOne({ _id: id }), document(id))
      await rejects(db.insertOne({ _id: id }), 'DuplicateKey')
      await rejects(db.insertOne({ _id: BigInt(id) }), 'DuplicateKey')
    }
    assert.is(await db.get(count), undefined)
    assert.equal(
      (await db.getMany([7, count, 7.5, 'seven', 7n])).map((found) => found?._id),
      [7, undefined, undefined, undefined, 7]
    )
    assert.equal(
      (await db.find({ _id: { $in: [3, 1, 2, 'x', 10 ** 6] } }).toArray()).sort(byId),
      [1, 2, 3].map(document)
    )
    assert.equal(idsOf(await db.find({ tens: 3 }).toArray()), idsOf(shuffled.map(document).filter((d) => d.tens === 3)))
    assert.is(await db.countDocuments(), count)
  })

  claim('of ids that collide within or between concurrent insertMany() calls, one is kept', async (db) => {
    const runs = [0, 50, 100].map((from) =>
      db.insertMany(
        Array.from({ length: 150 }, (_, i) => ({ _id: ((from + i) * 7919) % 1000, from })),
        { ordered: false }
      )
    )
    await Promise.allSettled([...runs, ...Array.from({ length: 32 }, () => db.insertOne({ _id: 999, from: 1 }))])
    const stored = idsOf(await db.find().toArray())
    assert.is(new Set(stored).size, stored.length)
    assert.is(await db.estimatedDocumentCount(), stored.length)
    await rejects(db.insertMany([{ _id: 5000 }, { _id: 5000 }]), 'DuplicateKey')
    assert.is(await db.countDocuments({ _id: 5000 }), 1)
  })

  claim('a cursor and a count see the state at their start, despite concurrent writes', async (db) => {
    await db.insertMany(shuffled.map(document))
    const cursor = db.find({ tens: { $in: [1, 2] } })
    await cursor.next()
    const counting = db.countDocuments({ tens: 2 })
    await Promise.all([
      db.updateMany({ tens: 1 }, { $set: { tens: 11 } }),
      db.deleteMany({ tens: 2 }),
      db.insertMany(Array.from({ length: 200 }, (_, i) => ({ ...document(count + i), tens: 1 })))
    ])
    await db.insertMany(Array.from({ length: 100 }, (_, i) => ({ ...document(10 * i + 2), again: true })))
    assert.is(await counting, count / 10)
    const seen = await cursor.toArray()
    assert.is(seen.length, (2 * count) / 10 - 1)
    assert.ok(seen.every(({ tens, again }) => (tens === 1 || tens === 2) && again === undefined))
    assert.is(await db.countDocuments({ tens: 11 }), count / 10)
    assert.is(await db.countDocuments({ tens: 2 }), 100)
    assert.is(await db.countDocuments({ tens: 1 }), 200)
  })

  claim('an update touches each document once, even if it changes the filtered field', async (db) => {
    await db.insertMany(shuffled.map(document))
    const { matchedCount, modifiedCount } = await db.updateMany({ n: { $gte: 0 } }, { $inc: { n: 1 } })
    assert.equal([matchedCount, modifiedCount], [count, count])
    assert.is((await db.find({}).toArray()).filter(({ _id, n }) => n === Number(_id) + 1).length, count)
    await db.replaceOne({ _id: 3 }, { replaced: true })
    assert.equal(await db.get(3), { _id: 3, replaced: true })
    assert.is(await db.countDocuments({ n: 4 }), 0)
  })

  claim('declared indexes follow inserts, updates and deletions, whenever they were created', async (db) => {
    await db.createIndex({ tens: 1, n: -1 })
    await db.insertMany(shuffled.map(document))
    await db.createIndex({ n: 1 }, { unique: true })
    await rejects(db.insertOne({ _id: count, n: 5 }), 'DuplicateKey')
    await db.updateMany({ tens: 4 }, { $set: { tens: 3 } })
    await db.deleteMany({ n: { $lt: 100 } })
    await db.insertOne({ _id: 5, n: 5, tens: 3 })
    const hint = 'tens_1_n_-1'
    const found = await db.find({ tens: 3 }, { hint, sort: { n: -1 } }).toArray()
    const scanned = await db.find({ tens: 3 }, { hint: 'scan', sort: { n: -1 } }).toArray()
    assert.equal(found, scanned)
    assert.is(found.length, (2 * (count - 100)) / 10 + 1)
    assert.equal(await db.find({ n: 5 }, { hint: 'n_1' }).toArray(), [{ _id: 5, n: 5, tens: 3 }])
  })

  claim('lines are imported with their ids', async (db) => {
    const lines = [...shuffled.slice(0, 700).map((id) => JSON.stringify(document(id))), '{"_id":1,"n":2}', 'no line']
    const skipped: number[] = []
    const { insertedCount } = await db.importLines([Buffer.from(lines.join('\n'))], {
      onSkipped: ({ line }) => skipped.push(line)
    })
    assert.is(insertedCount + skipped.length, lines.length)
    assert.is(insertedCount, await db.countDocuments())
    assert.equal(await db.get(shuffled[3]), document(shuffled[3]!))
    assert.equal((await db.verify()).problems, [])
  })

  claim('a copy has the same documents and kind of ids', async (db) => {
    await db.insertMany(shuffled.map(document))
    await db.deleteMany({ tens: 7 })
    await using target = await open(scratchPath())
    await copyDatabase(db, target)
    assert.equal((await target.find().toArray()).sort(byId), (await db.find().toArray()).sort(byId))
    const idsIn = async (each: Database) => (await each.stats()).collections.map((collection) => collection.ids)
    assert.equal(await idsIn(target), await idsIn(db))
    assert.equal((await target.verify()).problems, [])
  })

  const seed = testSeed()
  for (const round of [0, 1]) {
    test(`random writes, reopens and rebuilds: index, scan and model agree (${round})`, async () => {
      await new Life(ids, randomFrom(seed + round)).run(round === 1 ? new FailingLevel() : scratchPath())
    })
  }
}

const questions: readonly ((n: number) => Document)[] = [
  (n) => ({ a: n % 5 }),
  (n) => ({ a: { $ne: n % 5 } }),
  (n) => ({ rare: `r${n % 300}` }),
  (n) => ({ tags: n % 9, a: { $lt: 3 } }),
  (n) => ({ $or: [{ rare: `r${n % 300}` }, { tags: { $all: [n % 9, (n + 1) % 9] } }] }),
  (n) => ({ version: { $gte: n % 4 } }),
  (n) => ({ _id: { $gte: n, $lt: n + 40 } }),
  () => ({ tags: { $exists: false } }),
  () => ({})
]

/** A collection and a Map that get the same writes. */
class Life {
  readonly #ids: IdsOption
  readonly #random: () => number
  readonly #model = new Map<number, Document>()

  constructor(ids: IdsOption, random: () => number) {
    this.#ids = ids
    this.#random = random
  }

  async run(store: string | FailingLevel): Promise<void> {
    let db = await open(store, { ids: this.#ids, index, lsm })
    for (let round = 0; round < 9; round++) {
      const rebuilding = round % 4 === 3 ? db.index.rebuild().catch(ignoreFailure) : undefined
      for (let step = 0; step < 6; step++) await this.#step(db, store instanceof FailingLevel ? store : undefined)
      await this.#check(db)
      await rebuilding
      if (round % 3 !== 2) continue
      await this.#check(db)
      await db.close()
      db = await open(store, { index, lsm })
      assert.equal((await db.index.stats()).damage, [])
    }
    await this.#check(db)
    assert.equal((await db.verify()).problems, [])
    await db.close()
  }

  async #step(db: Database, store: FailingLevel | undefined): Promise<void> {
    const cursor = db.find({ a: { $lt: 2 } })
    const expected = [...this.#model.values()].filter(({ a }) => (a as number) < 2)
    const first = await cursor.next()
    const fails = store !== undefined && this.#below(4) === 0
    if (fails) Object.assign(store, { successes: 0, failures: 1 })
    try {
      await this.#write(db)
    } catch (error) {
      if (!fails) throw error
      // Earlier batches of the failed call stay.
      this.#model.clear()
      for (const each of await db.find({}, { hint: 'scan' }).toArray()) this.#model.set(Number(each._id), each)
    } finally {
      if (store !== undefined) store.failures = 0
    }
    const seen = first === null ? [] : [first, ...(await cursor.toArray())]
    assert.equal(seen.sort(byId), expected.sort(byId), 'a cursor from before the write')
  }

  async #write(db: Database): Promise<void> {
    const from = this.#below(3000)
    const filter = { _id: { $gte: from, $lt: from + this.#below(150) } }
    const touched = [...this.#model.keys()].filter((id) => id >= from && id < filter._id.$lt)
    switch (this.#below(4)) {
      case 0:
        await db.deleteMany(filter)
        for (const id of touched) this.#model.delete(id)
        return
      case 1:
        await db.updateMany(filter, { $inc: { version: 1 }, $set: { rare: `r${from % 300}` } })
        for (const id of touched) {
          const old = this.#model.get(id)!
          this.#model.set(id, { ...old, version: (old.version as number) + 1, rare: `r${from % 300}` })
        }
        return
      default: {
        const fresh = new Map<number, Document>()
        for (let i = 0; i < 120; i++) {
          const _id = this.#below(3000)
          const tags = i % 6 === 0 ? {} : { tags: [this.#below(9), this.#below(9)] }
          const each = { _id, a: this.#below(5), rare: `r${this.#below(300)}`, ...tags, version: 0 }
          if (!this.#model.has(_id)) fresh.set(_id, each)
        }
        await db.insertMany([...fresh.values()])
        for (const [id, each] of fresh) this.#model.set(id, each)
      }
    }
  }

  async #check(db: Database): Promise<void> {
    const scanned = await db.find({}, { hint: 'scan' }).toArray()
    assert.equal([...scanned].sort(byId), [...this.#model.values()].sort(byId))
    assert.is(await db.estimatedDocumentCount(), this.#model.size)
    for (const question of questions) {
      const filter = question(this.#below(3000))
      const { matches } = compileFilter(filter)
      const expected = scanned.filter(matches)
      const shown = JSON.stringify(filter)
      assert.equal(await db.find(filter).toArray(), expected, `index: ${shown}`)
      assert.equal(await db.find(filter, { hint: 'scan' }).toArray(), expected, `scan: ${shown}`)
      assert.is(await db.countDocuments(filter), expected.length, `count: ${shown}`)
      const reverse = await db.find(filter, { sort: { $natural: -1 }, skip: 1, limit: 3 }).toArray()
      assert.equal(reverse, [...expected].reverse().slice(1, 4), `reverse: ${shown}`)
    }
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }
}

/** When the store fails, a rebuild fails, too, and the index stays as it was. */
function ignoreFailure(): void {}
