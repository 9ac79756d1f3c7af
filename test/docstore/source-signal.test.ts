/**
 * A signal or close() ends inserts from a source, whatever the source does, and documents yielded before are stored.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open } from '../../src/index.ts'
import { assertHasFirst, assertNoTableIsLeft, openCounted, tweet, unitLines } from './load-cases.ts'
import { rejects, scratchPath } from './scratch.ts'

/** An async source that stalls for ever after the given elements. */
function stuckAfter<T>(given: readonly T[], whenStuck: () => void) {
  let isClosed = false
  let asked = 0
  const source: AsyncIterable<T> = {
    [Symbol.asyncIterator]: () => ({
      next() {
        if (asked < given.length) return Promise.resolve({ done: false, value: given[asked++]! })
        asked++
        setTimeout(whenStuck, 20)
        return new Promise(() => {})
      },
      return() {
        isClosed = true
        return new Promise(() => {})
      }
    })
  }
  return {
    source,
    assertClosed: (): void => {
      assert.ok(isClosed)
      assert.is(asked, given.length + 1)
    }
  }
}

const documents = (count: number): Document[] => Array.from({ length: count }, (_, i) => ({ _id: i }))
const line = ({ _id }: Document): Buffer => Buffer.from(`{"_id":${_id}}\n`)

const calls: Readonly<
  Record<
    string,
    (
      db: Database,
      given: readonly Document[],
      ended: AbortController
    ) => { done: Promise<unknown>; assertClosed(): void }
  >
> = {
  insertMany: (db, given, ended) => {
    const { source, assertClosed } = stuckAfter(given, () => ended.abort('enough'))
    return { done: db.insertMany(source, { signal: ended.signal }), assertClosed }
  },
  importLines: (db, given, ended) => {
    const { source, assertClosed } = stuckAfter(given.map(line), () => ended.abort('enough'))
    return { done: db.importLines(source, { signal: ended.signal }), assertClosed }
  }
}

for (const [name, call] of Object.entries(calls)) {
  test(`${name}() ends with its signal although the source stalls; the source is closed, not awaited`, async () => {
    for (const count of [0, 1, 777]) {
      const db = await open('unused', { store: 'memory' })
      const { done, assertClosed } = call(db, documents(count), new AbortController())
      const { cause } = await rejects(done, 'Aborted')
      assert.is(cause, 'enough')
      assertClosed()
      assert.is(await db.countDocuments(), count)
      await db.close()
    }
  })
}

test('the first of a signal and close() is reported', async () => {
  for (const isClosedFirst of [false, true]) {
    const db = await open('unused', { store: 'memory' })
    // The collection exists, so the source is read at once.
    await db.insertOne({})
    const ended = new AbortController()
    const { done } = calls.insertMany!(db, documents(3), ended)
    const refused = rejects(done, isClosedFirst ? 'DatabaseNotOpen' : 'Aborted')
    const acts = [() => ended.abort('enough'), () => db.close()]
    for (const act of isClosedFirst ? acts.reverse() : acts) void act()
    await refused
    await db.close()
  }
})

const closed: Readonly<
  Record<string, (db: Database, source: AsyncIterable<Document>) => Promise<{ readonly insertedCount: number }>>
> = {
  insertMany: (db, source) => db.insertMany(source),
  importLines: (db, source) => db.importLines(lines(source))
}

async function* lines(source: AsyncIterable<Document>): AsyncGenerator<Uint8Array> {
  for await (const document of source) yield line(document)
}

for (const [name, call] of Object.entries(closed)) {
  test(`close() ends ${name}() although the source stalls: earlier documents stay, and the error says so`, async () => {
    for (const count of [0, 1, 777]) {
      const location = scratchPath()
      const db = await open(location)
      let isStuck = false
      const { source, assertClosed } = stuckAfter(documents(count), () => {
        isStuck = true
      })
      const refused = rejects(call(db, source), 'DatabaseNotOpen')
      while (!isStuck) await sleep(1)
      await db.close()
      assert.match((await refused).message, /closed before the source ended/)
      if (name === 'insertMany') assertClosed()
      await using again = await open(location)
      assert.is(await again.countDocuments(), count)
    }
  })

  test(`close() ends ${name}() of an endless source, and closes the source`, async () => {
    const opened = await openCounted()
    let given = 0
    let isLeft = false
    async function* endless(): AsyncGenerator<Document> {
      try {
        for (;;) {
          yield tweet(given, given++)
        }
      } finally {
        isLeft = true
      }
    }
    const refused = rejects(call(opened.db, endless()), 'DatabaseNotOpen')
    while (given < unitLines * 5 + 99) await sleep(1)
    await opened[Symbol.asyncDispose]()
    await refused
    assert.ok(isLeft)
    await using again = await openCounted(opened.location)
    await assertHasFirst(again.db, given)
  })

  test(`close() loses nothing of ${name}() if its source has ended or is about to`, async () => {
    const location = scratchPath()
    const db = await open(location)
    let isOver = false
    const source = (async function* () {
      yield* documents(5000)
      isOver = true
    })()
    const done = call(db, source)
    while (!isOver) await sleep(0)
    await db.close()
    assert.is((await done).insertedCount, 5000)
    await using again = await open(location)
    assert.is(await again.countDocuments(), 5000)
  })
}

test('close() waits for documents and lines in arrays and synchronous iterators', async () => {
  const location = scratchPath()
  const db = await open(location)
  const all = [
    db.insertMany(documents(5000)),
    db.collection('values').insertMany(documents(5000).values()),
    db.collection('lines').importLines(documents(5000).map(line))
  ]
  await db.close()
  for (const { insertedCount } of await Promise.all(all)) assert.is(insertedCount, 5000)
})

test('many concurrent inserts cause no listener warning when their database closes', async () => {
  const db = await open('unused', { store: 'memory' })
  const warnings: Error[] = []
  const keep = (warning: Error): void => void warnings.push(warning)
  process.on('warning', keep)
  const refused = Array.from({ length: 30 }, () => {
    const { source } = stuckAfter(documents(0), () => {})
    return rejects(db.insertMany(source), 'DatabaseNotOpen')
  })
  await sleep(10)
  await db.close()
  await Promise.all(refused)
  process.off('warning', keep)
  assert.equal(warnings, [])
})

for (const kind of ['iterable', 'async iterable'] as const) {
  test(`an insertMany() of an ${kind} ends when its signal fires, and closes the source`, async () => {
    const opened = await openCounted()
    const count = unitLines * 5 + 99
    const ended = new AbortController()
    let isLeft = false
    function* some(): Generator<Document> {
      try {
        for (let i = 0; ; i++) {
          yield tweet(i, i)
          if (i === count - 1) ended.abort()
        }
      } finally {
        isLeft = true
      }
    }
    async function* later(): AsyncGenerator<Document> {
      yield* some()
    }
    const source = kind === 'iterable' ? some() : later()
    await rejects(opened.db.insertMany(source, { threads: 2, signal: ended.signal }), 'Aborted')
    await sleep(10)
    assert.ok(isLeft)
    await assertHasFirst(opened.db, count)
    assert.ok(opened.ingestedTables > 0)
    await opened[Symbol.asyncDispose]()
    await assertNoTableIsLeft(opened.location)
  })
}

test('an insertMany() whose signal has fired does not read its source', async () => {
  await using db = await open('unused', { store: 'memory' })
  const { source } = stuckAfter([], () => assert.unreachable())
  await rejects(db.insertMany(source, { signal: AbortSignal.abort() }), 'Aborted')
  assert.equal(db.listCollections(), [])
})

test('after its source has ended, insertMany() no longer listens to its signal', async () => {
  await using db = await open('unused', { store: 'memory' })
  const ended = new AbortController()
  let listeners = 0
  const { addEventListener, removeEventListener } = ended.signal
  ended.signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
    listeners++
    addEventListener.apply(ended.signal, given)
  }
  ended.signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
    listeners--
    removeEventListener.apply(ended.signal, given)
  }
  async function* source(): AsyncGenerator<Document> {
    yield* documents(100)
  }
  assert.is((await db.insertMany(source(), { signal: ended.signal })).insertedCount, 100)
  assert.is(listeners, 0)
})

test.run()
