/** Databases on a read-only or full mount, because permissions do not stop root. Skipped where mounting is refused. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { loader, program } from '../support/program.ts'
import { inTemporaryDirectory, linesOf, readAll } from './run-cli.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const node = [process.execPath, ...loader].join(' ')
const petaldb = `${node} ${program('src/cli/main.ts')}`

/** Runs a script with `directory` mounted read-only over itself; `$petaldb` is the command line. */
function runReadOnly(directory: string, script: string) {
  const mount = 'mount --bind "$directory" "$directory" && mount -o remount,ro,bind "$directory" || exit 99'
  const env = { ...process.env, directory, petaldb, NO_COLOR: '1' }
  return spawnSync('unshare', ['-m', 'sh', '-c', `${mount}\n${script}`], { cwd: root, env, encoding: 'utf8' })
}

const canMount = await (async () => {
  let isRefused = false
  await inTemporaryDirectory(async (path) => {
    mkdirSync(path('m'))
    isRefused = runReadOnly(path('m'), 'touch "$directory/file"').status === 1
  })
  return isRefused
})()

const testMounted = canMount ? test : test.skip

testMounted('a database on a read-only mount can be read, verified and backed up, and no command changes it', () =>
  inTemporaryDirectory(async (path) => {
    mkdirSync(path('m'))
    await using db = await open(path('m/db'))
    await db.insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: i, n: i % 10 })))
    await db.close()
    const before = readdirSync(path('m/db'))
    const { stdout, stderr } = runReadOnly(
      path('m'),
      `$petaldb count "$directory/db" '{"n": 3}'
      $petaldb verify "$directory/db"
      $petaldb backup "$directory/db" "${path('copy')}"
      $petaldb compact "$directory/db"
      echo '{}' | $petaldb import "$directory/db" -`
    )
    const [count, verified = '', backedUp = '', ...more] = linesOf(stdout)
    assert.is(count, '300', stderr)
    assert.match(verified, /^no problems in 3,000 documents/)
    assert.match(backedUp, /^backed up /)
    assert.equal(more, [])
    const [compact = '', imported = ''] = linesOf(stderr).filter((line) => line.startsWith('petaldb'))
    assert.match(compact, /^petaldb compact: The database at \S*m\/db was opened read-only \(IllegalOperation\)$/)
    assert.match(imported, /^petaldb import: \S*m\/db cannot be written: EROFS \(StoreFailure\)$/)
    assert.equal(readdirSync(path('m/db')), before)
    assert.is((await readAll(path('copy'))).length, 3000)
  })
)

testMounted('a LevelDB database on a read-only mount is refused, and the error says why', () =>
  inTemporaryDirectory(async (path) => {
    mkdirSync(path('m'))
    await using db = await open(path('m/db'), { store: 'level' })
    await db.insertOne({ _id: 1 })
    await db.close()
    const { status, stderr } = runReadOnly(path('m'), '$petaldb count "$directory/db"')
    assert.is(status, 1)
    assert.match(stderr, /it is not writable \(EROFS\); only databases with store 'lsm' can be opened read-only/)
    assert.match(readFileSync(path('m/db/PETALDB'), 'utf8'), /"level"/)
  })
)

testMounted('a database can be counted and verified after its process was killed and the disk has become full', () =>
  inTemporaryDirectory(async (path) => {
    mkdirSync(path('m'))
    const insert = `import { open } from '${program('src/index.ts')}'
      const db = await open(process.env.directory + '/db')
      await db.insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: i, n: i % 10 })))
      process.kill(process.pid, 'SIGKILL')`
    const script = `mount -t tmpfs -o size=16m none "$directory" || exit 99
      ${node} --input-type=module -e "$insert"
      dd if=/dev/zero of="$directory/rest" bs=4096 2>/dev/null
      $petaldb count "$directory/db" '{"n": 3}'
      $petaldb verify "$directory/db"
      echo '{}' | $petaldb import "$directory/db" -`
    const env = { ...process.env, directory: path('m'), petaldb, insert, NO_COLOR: '1' }
    const { stdout, stderr } = spawnSync('unshare', ['-m', 'sh', '-c', script], { cwd: root, env, encoding: 'utf8' })
    const [count, verified = ''] = linesOf(stdout)
    assert.is(count, '300', stderr)
    assert.match(verified, /^no problems in 3,000 documents/)
    assert.match(stderr, /^petaldb import: \S*m\/db cannot be written: ENOSPC \(StoreFailure\)$/m)
  })
)

test.run()
