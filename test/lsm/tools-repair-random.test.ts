import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { randomFrom } from '../support/random.ts'
import { smallOptions } from './tools-content.ts'
import { flip, namesOf, readBytes, truncate } from './tools-damage.ts'
import { contentOf, filledStore, location, openLevel, rejection } from './tools-stores.ts'

const seed = testSeed()
const random = randomFrom(seed)
const below = (limit: number) => Math.floor(random() * limit)

/** A store of random writes, in tables of several levels. */
async function randomStore(options: StoreOptions, writes: number) {
  const fileSystem = new MemoryFileSystem()
  const db = await openLevel(fileSystem, options)
  const content = new Map<string, string>()
  /** Every value that a key ever had. */
  const versions = new Map<string, Set<string>>()
  for (let i = 0; i < writes; i++) {
    // Most keys are close together, so that tables of old and of new entries are merged into the same tables below.
    const key = `${random() < 0.7 ? 'm' : 'abcdefghijklmnopqrstuvwxyz'[below(26)]}${below(40)}`
    if (random() < 0.2) {
      content.delete(key)
      await db.del(key)
    } else {
      const value = `${i}:${'x'.repeat(below(60))}`
      content.set(key, value)
      versions.set(key, (versions.get(key) ?? new Set()).add(value))
      await db.put(key, value)
    }
    if (random() < 0.03) await db.flush()
  }
  await db.close()
  return { fileSystem, content, versions }
}

const optionSets: readonly StoreOptions[] = [
  { writeBufferSize: 1500, maxFileSize: 400, blockSize: 100, level1Bytes: 600, level0CompactionTrigger: 2 },
  { writeBufferSize: 3000, maxFileSize: 600, blockSize: 1, level1Bytes: 1500, compression: false },
  { writeBufferSize: 1000, maxFileSize: 5000, level1Bytes: 5000, keyFilterBits: 0 }
]

test('repair() without a manifest shows the newest version of every key', async () => {
  for (let round = 0; round < 9; round++) {
    const options = optionSets[round % optionSets.length] ?? {}
    const { fileSystem, content } = await randomStore(options, 1000)
    for (const name of namesOf(fileSystem, /^(CURRENT|MANIFEST)/)) fileSystem.remove(`${location}/${name}`)
    const report = await LsmLevel.repair(location, { ...options, fileSystem })
    assert.is(report.source, 'tables')
    assert.equal(sorted(await contentOf(fileSystem, options)), sorted(content), `round ${round}`)
    const db = await openLevel(fileSystem, options)
    assert.equal((await db.verify()).problems, [], `round ${round}`)
    await db.compactRange('', '~')
    assert.equal(sorted(new Map(await db.iterator().all())), sorted(content), `round ${round}, compacted`)
    await db.close()
  }
})

test('after random damage, repair() yields only entries that were written, and a database without problems', async () => {
  for (let round = 0; round < 25; round++) {
    const options = optionSets[round % optionSets.length] ?? {}
    const { fileSystem, versions } = await randomStore(options, 300)
    const damage: string[] = []
    for (let i = 0; i <= below(3); i++) {
      const names = namesOf(fileSystem, /./)
      const name = names[below(names.length)] ?? ''
      const bytes = readBytes(fileSystem, name).length
      const kind = below(3)
      damage.push(`${['flip', 'truncate', 'remove'][kind]} ${name}`)
      if (kind === 0 && bytes > 0) flip(fileSystem, name, below(bytes))
      if (kind === 1) truncate(fileSystem, name, below(bytes + 1))
      if (kind === 2) fileSystem.remove(`${location}/${name}`)
    }
    const what = `round ${round}: ${damage}`
    const report = await LsmLevel.repair(location, { ...options, fileSystem })
    for (const [key, value] of await contentOf(fileSystem, options)) assert.ok(versions.get(key)?.has(value), what)
    const db = await openLevel(fileSystem, options)
    assert.equal((await db.verify()).problems, [], what)
    await db.compactRange('', '~')
    await db.close()
    if (report.movedFiles.length > 0)
      assert.equal(namesOf(fileSystem, /./, `${location}/lost`), [...report.movedFiles].sort())
  }
})

test('after a crash during a repair, another repair reaches the same content', async () => {
  const { fileSystem: original } = await filledStore()
  const [table = ''] = namesOf(original, /\.sst$/)
  flip(original, table, 30)
  for (const name of namesOf(original, /^CURRENT/)) original.remove(`${location}/${name}`)
  const durable = await syncedCopy(original)
  const undisturbed = durable.snapshot()
  await LsmLevel.repair(location, { ...smallOptions, fileSystem: undisturbed })
  const expected = await contentOf(undisturbed)

  const disks: MemoryFileSystem[] = []
  const repaired = durable.snapshot()
  const watched = new FaultyFileSystem(repaired, {
    after: ({ operation }) => {
      if (['rename', 'link', 'remove', 'syncDirectory', 'sync'].includes(operation)) disks.push(repaired.snapshot())
    }
  })
  await LsmLevel.repair(location, { ...smallOptions, fileSystem: watched })
  assert.ok(disks.length > 10)
  for (const [moment, disk] of disks.entries()) {
    for (let i = 0; i < 3; i++) {
      const crashed = i === 0 ? worstOf(disk) : disk.crashClone({ random })
      await LsmLevel.repair(location, { ...smallOptions, fileSystem: crashed })
      assert.equal(await contentOf(crashed), expected, `moment ${moment}, ${crashed.origin}`)
      const lost = namesOf(crashed, /^lost$/).length === 0 ? [] : namesOf(crashed, /./, `${location}/lost`)
      assert.ok(
        lost.some((name) => name.startsWith(table)),
        `moment ${moment}: the damaged table is kept`
      )
    }
  }
})

test('a repair that cannot write rejects and does no harm', async () => {
  const { fileSystem: original, content } = await filledStore()
  for (const name of namesOf(original, /^CURRENT/)) original.remove(`${location}/${name}`)
  for (let at = 1; ; at += 1 + below(4)) {
    const memory = original.snapshot()
    const fileSystem = new FaultyFileSystem(memory)
    fileSystem.fail({ at, isPersistent: true, code: 'ENOSPC', operations: ['open', 'write', 'sync', 'rename', 'link'] })
    const failure = await LsmLevel.repair(location, { ...smallOptions, fileSystem }).then(
      () => undefined,
      (error: { code?: string }) => error
    )
    const isOver = fileSystem.matches < at
    if (failure !== undefined) assert.is(failure.code, 'LEVEL_IO_ERROR', `call ${at}`)
    assert.equal(fileSystem.openFiles, [], `call ${at}`)
    await LsmLevel.repair(location, { ...smallOptions, fileSystem: memory })
    assert.equal(await contentOf(memory), content, `call ${at}`)
    if (isOver) break
  }
})

test('repair() copies damaged files to lost/ where hard links fail', async () => {
  const { fileSystem } = await filledStore()
  const [table = ''] = namesOf(fileSystem, /\.sst$/)
  flip(fileSystem, table, 30)
  const bytes = readBytes(fileSystem, table)
  fileSystem.link = () => {
    throw Object.assign(new Error('no links'), { code: 'EPERM' })
  }
  await LsmLevel.repair(location, { ...smallOptions, fileSystem })
  assert.equal(readBytes(fileSystem, `lost/${table}`), bytes)
  assert.not(namesOf(fileSystem, /\.sst$/).includes(table))
  assert.ok((await contentOf(fileSystem)).size > 0)
  assert.is((await rejection(LsmLevel.repair('/other', { fileSystem }))).code, 'LEVEL_IO_ERROR')
})

function worstOf(disk: MemoryFileSystem): MemoryFileSystem {
  const [worst = disk] = disk.crashStates()
  return worst
}

/** A copy whose files are all durable. */
async function syncedCopy(original: MemoryFileSystem): Promise<MemoryFileSystem> {
  const copy = new MemoryFileSystem()
  copy.makeDirectory(location)
  await copy.syncDirectory('/')
  for (const name of namesOf(original, /./)) {
    const file = copy.open(`${location}/${name}`, 'create')
    file.write(readBytes(original, name), 0)
    await file.sync()
    file.close()
  }
  await copy.syncDirectory(location)
  return copy
}

function sorted(map: ReadonlyMap<string, string>): [string, string][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}

test.run()
