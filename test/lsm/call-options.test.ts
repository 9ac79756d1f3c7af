/** Options that are not an object: the store's own methods throw an error with their name, and leave nothing behind. */
import type { AbstractLevel } from 'abstract-level'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { openLevel, rejection, type TestLevel } from './tools-stores.ts'

type AnyDatabase = AbstractLevel<string | Buffer | Uint8Array, string, string>

const calls: Readonly<Record<string, (db: TestLevel, options: never) => unknown>> = {
  destroy: (_db, options) => LsmLevel.destroy('/none', options),
  repair: (_db, options) => LsmLevel.repair('/none', options),
  readInto: (db, options) => db.readInto('a', new Uint8Array(8), options),
  scanBytes: (db, options) => db.scanBytes(options),
  approximateSize: (db, options) => db.approximateSize('a', 'b', options),
  compactRange: (db, options) => db.compactRange('a', 'b', options),
  backup: (db, options) => db.backup('/copy', options),
  verify: (db, options) => db.verify(options),
  lookup: (db, options) => db.lookup(['a', 1], options),
  rangeLookup: (db, options) => db.rangeLookup('a', 1, 2, options),
  keyRanges: (db, options) => db.keyRanges([], options),
  rebuildFilters: (db, options) => db.rebuildFilters(options)
}

for (const [name, call] of Object.entries(calls)) {
  test(`${name}() rejects options that are not an object, and close() does not hang afterwards`, async () => {
    const fileSystem = new MemoryFileSystem()
    const db = await openLevel(fileSystem)
    await db.put('a', 'x')
    for (const options of [null, 5, 'text', true, () => 1]) {
      const error = await rejection((async () => call(db, options as never))())
      assert.instance(error, TypeError)
      assert.match(error.message, new RegExp(`^${name} takes options as an object, received `))
    }
    assert.is(await db.get('a'), 'x')
    await db.close()
    assert.equal(fileSystem.list('/'), ['db'])
  })
}

const noOptions: readonly unknown[] = [null, 5, 'text', true, () => 1]

const inherited: Readonly<Record<string, (db: AnyDatabase, options: never) => Promise<unknown>>> = {
  open: (db, options) => db.open(options),
  get: (db, options) => db.get('a', options),
  getMany: (db, options) => db.getMany(['a', 'b'], options),
  has: (db, options) => db.has('a', options),
  put: (db, options) => db.put('b', 'y', options),
  del: (db, options) => db.del('b', options),
  batch: (db, options) => db.batch([{ type: 'put', key: 'b', value: 'z' }], options),
  iterator: (db, options) => db.iterator(options).all(),
  clear: (db, options) => db.clear(options)
}

/** The result of each call, with these options, on a database that was also created with them. */
async function outcomes(made: AnyDatabase, options: unknown): Promise<unknown[]> {
  await made.open()
  await made.put('a', 'x')
  const given: unknown[] = []
  for (const call of Object.values(inherited)) given.push(await call(made, options as never))
  await made.close()
  return given
}

for (const options of noOptions) {
  test(`${String(options)} counts as no options in the constructor and abstract-level's methods, as in other stores`, async () => {
    // Closed before it opens: it has no directory.
    await new LsmLevel('/db', options as never).close()
    const level = new LsmLevel<string, string>('/db', { fileSystem: new MemoryFileSystem() })
    const expected = await outcomes(new MemoryLevel<string, string>(options as never), options)
    assert.equal(await outcomes(level as unknown as AnyDatabase, options), expected)
    assert.is(expected[1], 'x')
  })
}

test('the option values must be an object', async () => {
  for (const values of [null, 5, 'text']) {
    const db = new LsmLevel('/db', { fileSystem: new MemoryFileSystem(), values: values as never })
    const error = await rejection(db.open())
    assert.match(String(error.cause), /values takes options as an object, received/)
  }
})

test('the extractor of the option values must be one', async () => {
  for (const extractor of [undefined, null, 5, {}, { module: 'file:///e.js' }]) {
    const db = new LsmLevel('/db', { fileSystem: new MemoryFileSystem(), values: { extractor } as never })
    const error = await rejection(db.open())
    assert.match(
      String(error.cause),
      /^TypeError: Option values\.extractor must be \{ module, name, version, options \}/
    )
  }
})

const misuses: readonly (readonly [RegExp, (db: TestLevel) => unknown])[] = [
  [/^The first argument 'field' must be a string$/, (db) => db.rangeLookup(undefined as never, 1, 2)],
  [/^The argument 'low' must be .*, received 1$/, (db) => db.rangeLookup('a', 1n as never, 2)],
  [/^The argument 'high' must be .*, received NaN$/, (db) => db.rangeLookup('a', 1, Number.NaN)],
  [/^Key cannot be null or undefined$/, (db) => db.readInto(undefined as never, new Uint8Array(1))],
  [/^The second argument 'target' must be a Uint8Array$/, (db) => db.readInto('a', undefined as never)]
]

for (const [message, misuse] of misuses) {
  test(`an argument that is none is named: ${message.source}`, async () => {
    const db = await openLevel(new MemoryFileSystem())
    assert.throws(() => misuse(db), message)
    await db.close()
  })
}

test.run()
