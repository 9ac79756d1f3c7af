/** The cache of decoded documents changes nothing but the time that reads take. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Collections } from '../../src/docstore/collections.ts'
import { Database } from '../../src/docstore/database.ts'
import { DocumentCache } from '../../src/docstore/documents/document-cache.ts'
import { DocumentCacheBudget } from '../../src/docstore/documents/document-cache-budget.ts'
import type { OpenCollection } from '../../src/docstore/open-collection.ts'
import { Confirmer } from '../../src/docstore/read/confirmer.ts'
import { Meter } from '../../src/docstore/read/meter.ts'
import { open } from '../../src/index.ts'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { generateTweets } from '../../src/workload/tweets.ts'
import { randomFrom } from '../support/random.ts'
import { rejects, scratchPath } from './scratch.ts'

const document = (n: number): Document => ({ _id: n, text: 'x'.repeat(100), tags: [{ n }] })

/** Reads like a query. @returns true if the document was cached */
function read(cache: DocumentCache, n: number): boolean {
  if (cache.get(n) !== undefined) return true
  cache.offer(n, document(n), 150)
  return false
}

function readAll(cache: DocumentCache, from: number, to: number): number {
  let found = 0
  for (let n = from; n < to; n++) if (read(cache, n)) found++
  return found
}

test('a document is cached on its second read, and returned as a copy each time', () => {
  const cache = new DocumentCache(new DocumentCacheBudget(1 << 20))
  const offered = document(7)
  cache.offer(7, offered, 150)
  assert.is(cache.get(7), undefined)
  cache.offer(7, offered, 150)
  offered.text = 'changed by its owner'
  const first = cache.get(7)
  assert.equal(first, { document: document(7), characters: 150 })
  Object.assign(first!.document.tags as object, { 0: 'changed by its reader' })
  assert.equal(cache.get(7)?.document, document(7))
  assert.is(cache.documents, 1)
})

test('documents of one structure are copied by the same constructor in all databases', () => {
  const plans = [1, 2].map(() => {
    const cache = new DocumentCache(new DocumentCacheBudget(1 << 20))
    for (let asked = 0; asked < 40; asked++) read(cache, 7)
    return cache.lookUp(7)!.plan
  })
  assert.is(plans[0], plans[1])
  assert.ok(String(plans[0]!.copy).includes('new Document'))
})

test('a document offered to the cache is decoded only when it is going to be cached', () => {
  const cache = new DocumentCache(new DocumentCacheBudget(1 << 20))
  let decoded = 0
  const decode = (): Document => {
    decoded++
    return document(7)
  }
  for (let asked = 0; asked < 5; asked++) if (cache.lookUp(7) === undefined) cache.offer(7, decode, 150)
  assert.is(decoded, 1)
  assert.equal(cache.get(7)?.document, document(7))
})

test('candidates are cached whether they match or not, and counting returns no documents', async () => {
  const cache = new DocumentCache(new DocumentCacheBudget(1 << 20))
  const meter = new Meter()
  const view = { cache, record: (): string => JSON.stringify(document(7)) }
  for (const filter of [{ text: 'another' }, { 'tags.n': 7 }].map((each) => compileFilter(each))) {
    for (let asked = 0; asked < 4; asked++) {
      const confirmer = new Confirmer(filter, meter, 10, asked === 3)
      const kept = cache.lookUp(7)
      if (kept === undefined) confirmer.offer(7, view.record(), false, cache)
      else confirmer.offerCached(7, kept, false, view)
      const matches = confirmer.take()
      assert.is(matches.length, filter.matches(document(7)) ? 1 : 0)
      assert.is(meter.tested, meter.documentsFetched)
      for (const match of matches) {
        assert.equal(match.document, document(7))
        if (asked < 3) Object.assign(match.document, { text: 'changed by its reader' })
      }
    }
    assert.is(cache.documents, 1)
  }
})

test('the budget is observed, and a budget of 0 caches nothing', () => {
  const room = new DocumentCacheBudget(20_000)
  const caches = [new DocumentCache(room), new DocumentCache(room)]
  const random = randomFrom(4)
  for (let i = 0; i < 20_000; i++) {
    read(caches[i % 2]!, Math.floor(random() ** 3 * 500))
    assert.ok(room.usedBytes <= room.budgetBytes)
  }
  const documents = caches.map((cache) => cache.documents)
  assert.ok(
    documents.every((count) => count > 10),
    `${documents} documents`
  )
  const none = new DocumentCache(new DocumentCacheBudget(0))
  for (let i = 0; i < 3; i++) assert.not(read(none, 1))
  assert.is(none.documents, 0)
})

test('a loop over more documents than fit finds the cached ones each time', () => {
  const cache = new DocumentCache(new DocumentCacheBudget(100_000))
  for (let i = 0; i < 3; i++) readAll(cache, 0, 1000)
  const kept = cache.documents
  assert.ok(kept > 100 && kept < 500, `${kept} kept`)
  for (let i = 0; i < 20; i++) assert.ok(readAll(cache, 0, 1000) > kept * 0.9)
})

test('all documents that fit are cached, whatever their ordinals', () => {
  const random = randomFrom(12)
  const ordinals = new Set(Array.from({ length: 10_000 }, () => Math.floor(random() * 2 ** 32)))
  const cache = new DocumentCache(new DocumentCacheBudget(100 << 20))
  for (let i = 0; i < 2; i++) for (const n of ordinals) read(cache, n)
  assert.ok(cache.documents > ordinals.size * 0.99, `${cache.documents} of ${ordinals.size}`)
})

test('a loop over nearly as many documents as are remembered soon finds all of them', () => {
  const cache = new DocumentCache(new DocumentCacheBudget(100 << 20))
  const small: Document = { _id: 1 }
  const found: number[] = []
  const random = randomFrom(13)
  const ordinals = Array.from({ length: 100_000 }, (_, n) => n).filter(() => random() < 0.5)
  for (let round = 0; round < 6; round++) {
    let kept = 0
    for (const n of ordinals) {
      if (cache.lookUp(n) === undefined) cache.offer(n, small, 10)
      else kept++
    }
    found.push(kept)
  }
  assert.ok(found[5]! > ordinals.length * 0.99, `${found} of ${ordinals.length}`)
})

test('documents that are read more often replace those no longer read', () => {
  const cache = new DocumentCache(new DocumentCacheBudget(100_000))
  for (let i = 0; i < 3; i++) readAll(cache, 0, 1000)
  for (let i = 0; i < 8; i++) readAll(cache, 5000, 5050)
  assert.is(readAll(cache, 5000, 5050), 50)
})

test('collections share the room by frequency of reads, and a closed one returns its share', () => {
  const room = new DocumentCacheBudget(100_000)
  const [one, other] = [new DocumentCache(room), new DocumentCache(room)]
  for (let i = 0; i < 3; i++) readAll(one, 0, 1000)
  const kept = one.documents
  assert.ok(kept > 100, `${kept} kept`)
  for (let i = 0; i < 8; i++) readAll(other, 0, 100)
  assert.is(readAll(other, 0, 100), 100)
  assert.ok(one.documents <= kept - 90, `${one.documents} of ${kept}`)
  other.close()
  const left = room.usedBytes
  assert.ok(left < 100_000 - (90 * 100_000) / kept, `${left} bytes`)
  for (let i = 0; i < 3; i++) readAll(other, 0, 10)
  assert.is(other.documents, 0)
  assert.is(room.usedBytes, left)
  for (let i = 0; i < 3; i++) readAll(one, 0, 1000)
  assert.ok(one.documents > kept - 5, `${one.documents} of ${kept}`)
  one.close()
  assert.is(room.usedBytes, 0)
})

test('a document too large for the budget, or with values that cannot be copied, is not cached', () => {
  const cache = new DocumentCache(new DocumentCacheBudget(1000))
  for (let i = 0; i < 3; i++) assert.not(read(cache, 1))
  const large = new DocumentCache(new DocumentCacheBudget(1 << 20))
  for (let i = 0; i < 3; i++) {
    assert.is(large.get(1), undefined)
    large.offer(1, { _id: 1, bytes: new Uint8Array(3) }, 30)
  }
})

test('get() returns a copy of a cached document, the new version after an update, none after a deletion', async () => {
  await using db = await open(scratchPath())
  await db.insertMany([document(1), document(2)])
  for (let i = 0; i < 4; i++) {
    const found = (await db.get(1)) as Document
    assert.equal(found, document(1))
    Object.assign(found.tags as object, { 0: 'changed by its reader' })
  }
  await db.updateOne({ _id: 1 }, { $set: { text: 'new' } })
  for (let i = 0; i < 4; i++) {
    assert.equal(await db.getMany([2, 1]), [document(2), { ...document(1), text: 'new' }])
  }
  await db.deleteOne({ _id: 1 })
  assert.equal(await db.getMany([1, 2]), [undefined, document(2)])
})

test('a function in a filter may change its argument without affecting later answers', async () => {
  await using db = await open(scratchPath())
  await db.insertMany([document(1), document(2)])
  const $where = (shown: Document): boolean => {
    shown.text = 'changed'
    ;(shown.tags as unknown[]).length = 0
    return false
  }
  for (let i = 0; i < 4; i++) {
    assert.equal(await db.find({ $or: [{ $where }, { text: 'nowhere' }] }).toArray(), [])
    assert.equal(await db.find({}).toArray(), [document(1), document(2)])
  }
})

test('a function in a filter may change Object.prototype without affecting documents that are returned after it', async () => {
  await using db = await open(scratchPath())
  const documents = Array.from({ length: 50 }, (_, _id) => ({ _id, inner: { late: [_id] }, late: _id }))
  await db.insertMany(documents)
  for (let read = 0; read < 4; read++) assert.equal(await db.find({}).toArray(), documents)
  let calls = 0
  const $where = (): boolean => {
    if (++calls === 20) {
      Object.defineProperty(Object.prototype, 'late', { set: () => {}, get: () => 'inherited', configurable: true })
    }
    return true
  }
  try {
    const found = await db.find({ $where }).toArray()
    assert.is(found.length, 50)
    found.forEach((one, n) => {
      assert.equal(Object.entries(one), Object.entries(documents[n]!))
      assert.equal(Object.entries(one.inner as Document), [['late', [n]]])
    })
  } finally {
    delete (Object.prototype as Document).late
  }
})

test('documents that are read to be replaced or deleted are not cached', async () => {
  const collections = await Collections.open(scratchPath(), {})
  await using db = new Database(collections)
  await db.insertMany(Array.from({ length: 300 }, (_, n) => document(n)))
  const { store } = (await collections.openForRead('default')) as OpenCollection
  const request = async (): Promise<void> => {
    for (let n = 0; n < 300; n++) await db.get(n)
  }
  await request()
  for (let n = 0; n < 100; n++) await db.updateOne({ _id: n }, { $set: { seen: true } })
  await db.updateMany({ _id: { $gte: 100, $lt: 200 } }, { $set: { seen: true } })
  await db.findOneAndReplace({ _id: 200 }, { text: 'another' })
  await db.deleteMany({ _id: { $gt: 200, $lt: 250 } })
  assert.is(store.cache.documents, 0)
  await request()
  assert.is(store.cache.documents, 50, 'those that are as they were')
})

test('reads match the store after updates, deletions and drops, also through an older cursor', async () => {
  const tweets = [...generateTweets({ count: 500, seed: 3 })] as unknown as (Document & { _id: number })[]
  for (const documentCacheBytes of [undefined, 100_000]) {
    await using db = await open(scratchPath(), documentCacheBytes === undefined ? {} : { documentCacheBytes })
    const model = new Map(tweets.map((tweet) => [tweet._id, tweet as Document]))
    await db.insertMany(tweets)
    const random = randomFrom(9)
    const filters = ['en', 'es', 'ja', 'pt'].map((lang) => ({ lang }))
    const check = async (): Promise<void> => {
      for (const filter of filters) {
        for (let read = 0; read < 3; read++) {
          const found = await db.find(filter).sort({ _id: 1 }).toArray()
          const expected = [...model.values()].filter(({ lang }) => lang === filter.lang)
          expected.sort((a, b) => Number(a._id) - Number(b._id))
          assert.is(JSON.stringify(found), JSON.stringify(expected))
          // The caller owns the documents.
          for (const own of found) {
            delete own.text
            Object.assign(own.user as object, { screen_name: 'nobody' })
          }
        }
      }
    }
    await check()
    for (let round = 0; round < 2; round++) {
      const cursor = db.find({ lang: 'en' }).sort({ _id: 1 })
      const before = JSON.stringify([...model.values()].filter(({ lang }) => lang === 'en').sort(byId))
      const first = await cursor.next()
      for (let i = 0; i < 50; i++) {
        const _id = tweets[Math.floor(random() * tweets.length)]!._id
        const old = model.get(_id)
        if (old === undefined) continue
        if (i % 5 === 0) {
          await db.deleteOne({ _id })
          model.delete(_id)
        } else {
          const lang = i % 2 === 0 ? 'ja' : 'en'
          await db.updateOne({ _id }, { $set: { lang, round } })
          model.set(_id, { ...old, lang, round })
        }
      }
      await db.updateMany({ lang: 'pt' }, { $inc: { retweet_count: 1 } })
      for (const [_id, old] of model) {
        if (old.lang === 'pt') model.set(_id, { ...old, retweet_count: Number(old.retweet_count) + 1 })
      }
      assert.is(JSON.stringify([first, ...(await cursor.toArray())]), before)
      await check()
    }
    const again = db.collection('again')
    for (const text of ['old', 'new']) {
      await again.insertMany(Array.from({ length: 20 }, (_, _id) => ({ _id, lang: 'en', text })))
      for (let read = 0; read < 3; read++) {
        const found = await again.find({ lang: 'en' }).toArray()
        assert.ok(found.length === 20 && found.every((one) => one.text === text))
      }
      await db.dropCollection('again')
    }
  }
})

test('a $where that changes its document affects neither this answer nor later ones', async () => {
  await using db = await open(scratchPath())
  await db.insertMany(Array.from({ length: 300 }, (_, _id) => ({ _id, list: [1], lang: _id % 2 === 0 ? 'en' : 'de' })))
  const $where = function (this: Document): boolean {
    this.seen = true
    Object.assign(this.list as number[], [2, 3])
    return true
  }
  for (const filter of [{ $where }, { lang: 'en', $where }]) {
    for (let i = 0; i < 4; i++) assert.equal((await db.find(filter).toArray())[0], { _id: 0, list: [1], lang: 'en' })
  }
  for (const one of await db.find({}).toArray()) {
    assert.equal(one, { _id: one._id, list: [1], lang: Number(one._id) % 2 === 0 ? 'en' : 'de' })
  }
})

test('no old version is returned of a document that keeps its ordinal when it is replaced', async () => {
  await using db = await open(scratchPath())
  const computed = db.collection('computed', { ids: 'reversible' })
  await computed.insertMany(Array.from({ length: 300 }, (_, _id) => ({ _id, lang: 'en', n: 0 })))
  for (let n = 0; n < 4; n++) {
    for (let i = 0; i < 3; i++) {
      for (const filter of [{ lang: 'en' }, { _id: 7 }]) {
        for (const one of await computed.find(filter).toArray()) assert.is(one.n, n)
      }
    }
    await computed.updateMany({ lang: 'en' }, { $inc: { n: 1 } })
  }
})

test('a negative budget is refused', async () => {
  await rejects(open(scratchPath(), { documentCacheBytes: -1 }), 'BadValue')
})

function byId(a: Document, b: Document): number {
  return Number(a._id) - Number(b._id)
}

test.run()
