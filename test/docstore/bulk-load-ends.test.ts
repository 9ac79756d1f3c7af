/** However an import with threads ends, every complete line that was read is stored, and no file is left over. */
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freeIdleUnitMemory } from '../../src/docstore/bulk/unit-memory.ts'
import type { Store } from '../../src/docstore/options.ts'
import { lsmOptions } from '../../src/docstore/store/lsm-store.ts'
import type { ThreadMessage } from '../../src/docstore/threads/thread-work.ts'
import { type BadLine, type Database, type ImportOptions, open } from '../../src/index.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { LsmLevel } from '../../src/lsm/lsm-level.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import {
  assertHasFirst,
  assertNoTableIsLeft,
  assertSound,
  bytesOf,
  openCounted,
  smallSegments,
  tweetLines,
  unitLines
} from './load-cases.ts'
import { inChunks } from './load-lines.ts'
import { rejects, scratchPath } from './scratch.ts'

const random = randomFrom(testSeed())
const below = (limit: number): number => Math.floor(random() * limit)
const units = (count: number): number => count * unitLines

/** A source that counts the complete lines it has yielded. */
class Source {
  lines = 0
  readonly #text: Uint8Array

  constructor(count: number) {
    this.#text = bytesOf(tweetLines(0, count))
  }

  async *chunks(whenOver?: () => Promise<void>): AsyncGenerator<Uint8Array> {
    for await (const chunk of inChunks(this.#text, random, 10_000)) {
      this.lines += chunk.filter((byte) => byte === 0x0a).length
      yield chunk
    }
    await whenOver?.()
  }
}

test('lines that a thread has when it dies are imported all the same', async () => {
  const opened = await openCounted()
  const { db } = opened
  const { postMessage } = Worker.prototype
  let killed = 0
  Worker.prototype.postMessage = function (this: Worker, message: ThreadMessage, ...rest: never[]) {
    postMessage.call(this, message, ...rest)
    if (message.kind !== 'unit') return
    killed++
    const { firstNumber, numbers } = message.request
    // At any moment of its work, or once it has started to write a table.
    if (below(4) === 0) setTimeout(() => this.terminate(), below(30)).unref()
    if (below(2) > 0) return
    const watch = setInterval(() => {
      const names = readdirSync(opened.location).map((name) => Number.parseInt(name, 10))
      if (names.some((number) => number >= firstNumber + numbers)) clearInterval(watch)
      if (!names.some((number) => number >= firstNumber && number < firstNumber + numbers)) return
      clearInterval(watch)
      void this.terminate()
    }, 0)
    watch.unref()
  }
  try {
    const { insertedCount } = await db.importLines(new Source(units(30)).chunks(), { threads: 2, batch: 100 })
    assert.is(insertedCount, units(30))
  } finally {
    Worker.prototype.postMessage = postMessage
  }
  assert.ok(killed > 0)
  await assertHasFirst(db, units(30))
  await assertSound(db)
  await opened[Symbol.asyncDispose]()
  await assertNoTableIsLeft(opened.location)
})

test('lines are imported even if there is no memory for units', async () => {
  await using opened = await openCounted()
  const { db } = opened
  const usual = globalThis.SharedArrayBuffer
  globalThis.SharedArrayBuffer = class extends usual {
    constructor(bytes = 0) {
      if (bytes > 100 * 2 ** 20) throw new RangeError('Array buffer allocation failed')
      super(bytes)
    }
  }
  try {
    // Drops what earlier imports have left.
    freeIdleUnitMemory()
    await db.importLines(new Source(units(5)).chunks(), { threads: 2, batch: 100 })
  } finally {
    globalThis.SharedArrayBuffer = usual
  }
  assert.is(opened.ingestedTables, 0)
  await assertHasFirst(db, units(5))
})

for (const threads of [1, 3]) {
  test(`an aborted import has stored every complete line it read, threads: ${threads}`, async () => {
    const opened = await openCounted()
    const { db } = opened
    const source = new Source(units(12))
    const controller = new AbortController()
    const at = units(4) + below(units(4))
    let linesBefore = 0
    async function* untilThen(): AsyncGenerator<Uint8Array> {
      for await (const chunk of source.chunks()) {
        if (source.lines >= at) controller.abort()
        else linesBefore = source.lines
        yield chunk
      }
    }
    const options = { threads, signal: controller.signal }
    const failed = await db.importLines(untilThen(), options).catch((error: unknown) => error)
    assert.is((failed as Error).name, 'AbortError')
    assert.ok(linesBefore > units(3))
    await assertHasFirst(db, linesBefore)
    assert.ok(opened.ingestedTables > 0)
    await assertSound(db)
    await opened[Symbol.asyncDispose]()
    await assertNoTableIsLeft(opened.location)
  })
}

test('if the source fails, the lines read before are stored and its error is passed on', async () => {
  const opened = await openCounted()
  const count = units(5) + below(units(3))
  const source = new Source(count).chunks(() => Promise.reject(new TypeError('gone')))
  const failed = await opened.db.importLines(source, { threads: 2 }).catch((error: unknown) => error)
  assert.instance(failed, TypeError)
  await assertHasFirst(opened.db, count)
  assert.ok(opened.ingestedTables > 0)
  await opened[Symbol.asyncDispose]()
  await assertNoTableIsLeft(opened.location)
})

/** Imports `count` lines from a source that then stalls until `use` is done. */
async function whileItWaits(
  options: ImportOptions,
  count: number,
  use: (db: Database) => Promise<void>
): Promise<void> {
  await using opened = await openCounted()
  const { db } = opened
  let goOn = (): void => {}
  const waiting = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const importing = db.importLines(
    new Source(count).chunks(() => waiting),
    options
  )
  importing.catch(() => undefined)
  try {
    await use(db)
  } finally {
    goOn()
  }
  await importing.catch(() => undefined)
  await assertHasFirst(db, count)
}

for (const [what, count] of [
  ['before any unit', 100],
  ['in a unit', units(4) + 77],
  ['at the end of a unit', units(3)]
] as const) {
  test(`lines are inserted although the source stalls: ${what}`, async () => {
    await whileItWaits({ threads: 2 }, count, async (db) => {
      for (let i = 0; i < 100 && (await db.countDocuments()) < count; i++) await sleep(100)
      assert.is(await db.countDocuments(), count)
    })
  })
}

test('a bad line is reported although the source stalls', async () => {
  await using opened = await openCounted()
  const { db } = opened
  async function* source(): AsyncGenerator<Uint8Array> {
    yield bytesOf(`${tweetLines(0, units(2) + 10)}no document\n`)
    await new Promise(() => {})
  }
  const failed = await db.importLines(source(), { threads: 2, strict: true }).catch((error: unknown) => error)
  assert.is((failed as BadLine).line, units(2) + 11)
  await assertHasFirst(db, units(2) + 10)
})

test('strict: units after a bad line are not published', async () => {
  for (const bad of ['{', '{"_id":3}', '{"_id":1600}']) {
    const opened = await openCounted()
    const at = units(4) + below(unitLines)
    const lines = `${tweetLines(0, at)}${bad}\n${tweetLines(at, units(12))}`
    const source = inChunks(bytesOf(lines), random, 50_000)
    const failed = await opened.db.importLines(source, { threads: 3, strict: true }).catch((error: unknown) => error)
    assert.is((failed as BadLine).line, at + 1)
    await assertHasFirst(opened.db, at)
    assert.ok(opened.ingestedTables > 0)
    await opened[Symbol.asyncDispose]()
    await assertNoTableIsLeft(opened.location)
  }
})

test('an error thrown by onProgress ends the import and is passed on', async () => {
  const opened = await openCounted()
  const failed = await opened.db
    .importLines(new Source(units(8)).chunks(), {
      threads: 2,
      onProgress: ({ insertedCount }) => {
        if (insertedCount >= units(3)) throw new TypeError('enough')
      }
    })
    .catch((error: unknown) => error)
  assert.instance(failed, TypeError)
  assert.ok((await opened.db.countDocuments()) >= units(3))
  await assertSound(opened.db)
  await opened[Symbol.asyncDispose]()
  await assertNoTableIsLeft(opened.location)
})

test('dropping the collection ends its import, and leaves no table', async () => {
  const opened = await openCounted()
  const { db } = opened
  let dropping: Promise<boolean> | undefined
  const collection = db.collection('short')
  const importing = collection.importLines(new Source(units(20)).chunks(), {
    threads: 2,
    onProgress: ({ insertedCount }) => {
      if (insertedCount >= units(4)) dropping ??= db.dropCollection('short')
    }
  })
  await rejects(importing, 'DatabaseNotOpen')
  assert.is(await dropping, true)
  assert.equal(db.listCollections().length, 0)
  // The name can be used again.
  await collection.importLines(new Source(units(3)).chunks(), { threads: 2 })
  assert.is(await collection.countDocuments(), units(3))
  await opened[Symbol.asyncDispose]()
  await assertNoTableIsLeft(opened.location)
})

test('close() ends an import, waits until what it has read is stored, and leaves no table', async () => {
  const opened = await openCounted()
  let closing: Promise<void> | undefined
  let told = 0
  const importing = opened.db.importLines(new Source(units(8)).chunks(), {
    threads: 2,
    onProgress: ({ insertedCount }) => {
      told = insertedCount
      if (insertedCount >= units(3)) closing ??= opened.db.close()
    }
  })
  await rejects(importing, 'DatabaseNotOpen')
  assert.ok(told >= units(3))
  await closing
  await opened[Symbol.asyncDispose]()
  await assertNoTableIsLeft(opened.location)
  await using again = await openCounted(opened.location)
  await assertHasFirst(again.db, told)
})

test('threads build nothing for a store whose files they cannot see', async () => {
  // A directory of this name exists on disk, too.
  const location = dirname(scratchPath())
  const store = new LsmLevel<unknown, unknown>(location, { ...lsmOptions(), fileSystem: new MemoryFileSystem() })
  const db = await open(store as unknown as Store, smallSegments)
  await db.importLines(new Source(units(6)).chunks(), { threads: 2 })
  assert.is(store.stats().writes.ingestedTables, 0)
  await assertHasFirst(db, units(6))
  await assertSound(db)
  await db.close()
  await store.close()
})

test.run()
