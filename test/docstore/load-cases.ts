/** Shared by the tests of imports with threads: small segments, documents and checks. */
import { readdirSync } from 'node:fs'
import * as assert from 'uvu/assert'
import type { Store } from '../../src/docstore/options.ts'
import { lsmOptions } from '../../src/docstore/store/lsm-store.ts'
import { type Database, type Document, type OpenOptions, open } from '../../src/index.ts'
import { LsmLevel } from '../../src/lsm/lsm-level.ts'
import type { StoreOptions } from '../../src/lsm/options.ts'
import { scratchPath } from './scratch.ts'

/** Lines per unit. */
export const unitLines = 512
export const smallSegments = { index: { segmentBits: unitLines } } as const

export interface LoadedDatabase extends AsyncDisposable {
  readonly db: Database
  readonly location: string
  readonly store: LsmLevel<unknown, unknown>
  /** Tables written by threads that the store took in. */
  readonly ingestedTables: number
}

/** A database over a store that counts the tables it takes in. */
export async function openCounted(
  location = scratchPath(),
  options: OpenOptions = {},
  lsm: StoreOptions = {}
): Promise<LoadedDatabase> {
  const store = new LsmLevel<unknown, unknown>(location, { ...lsmOptions(), ...lsm })
  const db = await open(store as unknown as Store, { ...smallSegments, ...options })
  return {
    db,
    location,
    store,
    get ingestedTables() {
      return store.stats().writes.ingestedTables
    },
    [Symbol.asyncDispose]: async () => {
      await db.close()
      await store.close()
    }
  }
}

export function tweet(id: unknown, i: number): Document {
  return {
    _id: id,
    text: `tweet ${i} of ${i % 97}`,
    lang: ['en', 'de', 'ja'][i % 3],
    user: { name: `user ${i % 31}`, followers: i % 1000 },
    tags: [`t${i % 7}`, `t${i % 11}`]
  }
}

/** Lines of tweets whose ids are their numbers. */
export function tweetLines(from: number, to: number): string {
  let text = ''
  for (let i = from; i < to; i++) text += `${JSON.stringify(tweet(i, i))}\n`
  return text
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A source of unknown length, whose units are as large as segments. */
export async function* streamOf<T>(list: Iterable<T>): AsyncGenerator<T> {
  yield* list
}

export const questions: readonly Document[] = [
  {},
  { lang: 'de' },
  { lang: { $ne: 'en' } },
  { tags: 't3' },
  { tags: { $all: ['t3', 't5'] } },
  { 'user.name': 'user 7', lang: 'ja' },
  { 'user.followers': { $gte: 300, $lt: 420 } },
  { text: 'tweet 1200 of 36' },
  { _id: { $gte: 700, $lt: 1100 } },
  { $or: [{ lang: 'ja' }, { tags: 't1' }], missing: { $exists: false } }
]

/** Checks that the ids are the numbers from 0, in order. */
export async function assertHasFirst(db: Database, count: number): Promise<void> {
  const ids = (await db.find({}, { hint: 'scan' }).toArray()).map(({ _id }) => _id)
  assert.equal(
    ids,
    Array.from({ length: count }, (_, i) => i)
  )
}

/** Checks that index and scan agree, that counts are right, and that verify() finds no problem. */
export async function assertSound(db: Database): Promise<void> {
  const all = await db.find({}, { hint: 'scan' }).toArray()
  assert.is(await db.countDocuments(), all.length, 'the index counts what is there')
  assert.is(await db.estimatedDocumentCount(), all.length, 'the state counts what is there')
  for (const filter of questions) {
    const found = (await db.find(filter).toArray()).map(({ _id }) => _id)
    const scanned = (await db.find(filter, { hint: 'scan' }).toArray()).map(({ _id }) => _id)
    assert.equal(found, scanned, JSON.stringify(filter))
    assert.is(await db.countDocuments(filter), scanned.length, JSON.stringify(filter))
  }
  assert.equal((await db.verify()).problems, [])
  assert.equal((await db.index.stats()).damage, [])
}

function tablesIn(location: string): string[] {
  return readdirSync(location).filter((name) => name.endsWith('.sst'))
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Checks that reopening the store without merges removes no table, as each is referenced. REQUIRES: it is closed. */
export async function assertNoTableIsLeft(location: string, options?: OpenOptions): Promise<void> {
  const before = tablesIn(location)
  const store = new LsmLevel<unknown, unknown>(location, { ...lsmOptions(), autoCompaction: false })
  await store.open()
  const named = new Set(tablesIn(location))
  await store.close()
  const left = before.filter((name) => !named.has(name))
  assert.equal(left, [])
  await using again = await openCounted(location, options)
  await assertSound(again.db)
}
