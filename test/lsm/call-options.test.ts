/** Options of the store's own methods that are no object: an error that names the method, and nothing left behind. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { openLevel, rejection, type TestLevel } from './tools-stores.ts'

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
  test(`${name} takes options as an object, and closing waits for nothing afterwards`, async () => {
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

test('values is an object', async () => {
  for (const values of [null, 5, 'text']) {
    const db = new LsmLevel('/db', { fileSystem: new MemoryFileSystem(), values: values as never })
    const error = await rejection(db.open())
    assert.match(String(error.cause), /values takes options as an object, received/)
  }
})

test.run()
