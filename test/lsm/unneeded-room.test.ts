/** Room on disk and in memory that is not needed, after a crash or a failure. */
import { randomBytes } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BlockCache } from '../../src/lsm/cache/block-cache.ts'
import { InlineRunner } from '../../src/lsm/compaction/inline-runner.ts'
import { Engine } from '../../src/lsm/engine/engine.ts'
import { createStore, recoverStore } from '../../src/lsm/engine/recovery.ts'
import { resolveOptions } from '../../src/lsm/engine/resolve-options.ts'
import { tableName } from '../../src/lsm/fs/file-names.ts'
import type { FileSystem, OpenFile } from '../../src/lsm/fs/file-system.ts'
import { sparing } from '../../src/lsm/fs/sparing-file-system.ts'
import { systemError } from '../../src/lsm/fs/system-error.ts'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { ArenaPool } from '../../src/lsm/memtable/arena.ts'
import { TableCache } from '../../src/lsm/version/table-cache.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'

const directory = '/db'

/** A store with a log of `bytes` bytes and no tables. */
async function withLog(bytes: number): Promise<MemoryFileSystem> {
  const fileSystem = new MemoryFileSystem()
  const db = new LsmLevel<string, Buffer>(directory, { fileSystem, valueEncoding: 'buffer' })
  for (let i = 0; i < 10; i++) await db.put(`k${i}`, randomBytes(bytes / 10))
  await db.close()
  return fileSystem
}

function usedBytes(fileSystem: FileSystem): number {
  return fileSystem.list(directory).reduce((sum, name) => sum + (fileSystem.size(`${directory}/${name}`) ?? 0), 0)
}

/** The same files on a disk of that many bytes. */
function onDiskOf(capacity: number, fileSystem: MemoryFileSystem): FileSystem {
  const limited = (file: OpenFile): OpenFile =>
    overriding(file, {
      write: (bytes, position) => {
        const more = Math.max(0, position + bytes.length - file.size())
        if (usedBytes(fileSystem) + more > capacity) throw systemError('ENOSPC', 'write', file.path)
        file.write(bytes, position)
      }
    })
  return overriding<FileSystem>(fileSystem, { open: (path, mode) => limited(fileSystem.open(path, mode)) })
}

function overriding<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get: (_, name) => {
      const own = methods[name as keyof T] ?? Reflect.get(target, name)
      return typeof own === 'function' ? own.bind(target) : own
    }
  })
}

test('tables that a crash left behind make room for those that opening writes', async () => {
  const fileSystem = await withLog(100_000)
  const left = fileSystem.open(`${directory}/${tableName(999)}`, 'create')
  left.write(randomBytes(90_000), 0)
  left.close()
  const db = new LsmLevel(directory, { fileSystem: onDiskOf(usedBytes(fileSystem) + 50_000, fileSystem) })
  assert.is((await db.keys().all()).length, 10)
  assert.not(fileSystem.list(directory).includes(tableName(999)))
  await db.close()
})

for (const [what, fault] of [
  ['a table cannot be written', { operations: ['write'], path: /\.sst$/, at: 1, code: 'ENOSPC' }],
  ['the manifest cannot be written', { operations: ['write'], path: /MANIFEST/, at: 2, code: 'EIO' }]
] as const) {
  test(`memory for replayed logs is returned if ${what}`, async () => {
    const fileSystem = new FaultyFileSystem(await withLog(200_000))
    const pool = new ArenaPool(1 << 20)
    const settings = { fileSystem, directory, options: resolveOptions({ writeBufferSize: 1 << 26 }), pool }
    const recover = () => recoverStore({ ...settings, runner: new InlineRunner(fileSystem), versionSet: {} })
    for (let attempt = 0; attempt < 3; attempt++) {
      fileSystem.fail(fault)
      await recover().then(
        () => assert.unreachable('it opened'),
        (error: { code?: string }) => assert.is(error.code, 'LEVEL_IO_ERROR')
      )
      assert.is(pool.idleBytes, 1 << 20)
    }
    fileSystem.heal()
    const { versions, logs } = await recover()
    assert.is(versions.current.tables(0).length, 1)
    await logs.close()
    await versions.close()
  })
}

test('memory of writes that waited for another log is returned when there is none', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  fileSystem.makeDirectory(directory)
  const pool = new ArenaPool(16 << 20)
  const runner = new InlineRunner(fileSystem)
  const options = resolveOptions({ writeBufferSize: 10_000 })
  const created = await createStore({ fileSystem, directory, options, pool, runner, versionSet: {} })
  const blocks = new BlockCache(0)
  const tables = new TableCache(fileSystem, directory, blocks, 10)
  const lock = { release: () => {} }
  const engine = new Engine({
    ...created,
    fileSystem: sparing(fileSystem),
    directory,
    options,
    lock,
    blocks,
    pool,
    tables,
    runner
  })
  fileSystem.fail({ at: 1, operations: ['open'], path: /\.wal$/, code: 'ENOSPC', isPersistent: true })
  const value = Buffer.alloc(20_000)
  const writes = ['a', 'b', 'c'].map((key) => engine.put(Buffer.from(key), value, false))
  const outcomes = await Promise.allSettled(writes)
  assert.equal(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected']
  )
  await engine.close()
  assert.is(pool.idleBytes, 3 << 20, 'a chunk for each write')
})

test.run()
