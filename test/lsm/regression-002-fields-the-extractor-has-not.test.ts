import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { jsonExtractor, LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'

test('lookup() of a field that the extractor does not have throws instead of finding nothing', async () => {
  const values = { extractor: jsonExtractor({ fields: ['color'] }) }
  const db = new LsmLevel('/db', { fileSystem: new MemoryFileSystem(), values })
  await db.put('k', '{"size":1}')
  await db.flush()
  try {
    await db.lookup(['size', 1]).next()
    assert.unreachable()
  } catch (error) {
    assert.instance(error, TypeError)
    assert.match((error as Error).message, 'size')
  }
  await db.close()
})

test.run()
