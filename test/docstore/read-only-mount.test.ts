/** New databases where none can be created. Skipped where mounting is refused. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { copyDatabase, open } from '../../src/index.ts'
import { LsmLevel } from '../../src/lsm/index.ts'
import { canMount, onTmpfs } from '../support/mounted.ts'
import { loader, program } from '../support/program.ts'
import { rejects, scratchPath } from './scratch.ts'

const testMounted = canMount ? test : test.skip

testMounted('a new database on a read-only mount is refused with EROFS and its name, at any depth', () =>
  onTmpfs('ro,size=1m', async (directory) => {
    for (const location of [join(directory, 'new'), join(directory, 'new', 'deep'), directory]) {
      for (const store of ['lsm', 'level'] as const) {
        const error = await rejects(open(location, { store }), 'StoreFailure')
        assert.ok(
          error.message.startsWith(`${location} cannot be created: EROFS: read-only file system`),
          error.message
        )
        assert.equal(error.details, { location, systemCode: 'EROFS' })
      }
    }
    assert.equal(readdirSync(directory), [])
  })
)

testMounted('a new LsmLevel on a read-only mount is refused with EROFS and its path', () =>
  onTmpfs('ro,size=1m', async (directory) => {
    for (const location of [join(directory, 'new'), join(directory, 'new', 'deep'), directory]) {
      const error = await new LsmLevel(location).open().then(
        () => assert.unreachable('it opened'),
        ({ cause }) => cause
      )
      assert.is(error.code, 'LEVEL_IO_ERROR')
      assert.is(error.path, location)
      assert.match(error.message, /EROFS: read-only file system/)
    }
  })
)

testMounted('a copy to a read-only mount is refused with EROFS', async () => {
  await using original = await open(scratchPath())
  await onTmpfs('ro,size=1m', async (directory) => {
    const error = await rejects(copyDatabase(original, join(directory, 'copies', 'first')), 'StoreFailure')
    assert.match(error.message, /copies\/first cannot be written: EROFS: read-only file system, mkdir/)
  })
})

// In a process of its own, because a call that never returns would hold up this one.
const testInProc = existsSync('/proc/self') ? test : test.skip
testInProc('a new database where no directory can ever be created is refused at once', () => {
  const code = `import { open } from ${JSON.stringify(program('src/index.ts'))}
    await open('/proc/petaldb/new').catch(({ codeName, message }) => console.log(codeName, message))`
  const { stdout, stderr } = spawnSync(process.execPath, [...loader, '--input-type=module', '-e', code], {
    encoding: 'utf8',
    timeout: 60_000
  })
  assert.match(stdout, /^StoreFailure \/proc\/petaldb\/new cannot be created: ENOENT: /, stderr)
})

test.run()
