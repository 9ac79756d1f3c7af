import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { tableName } from '../../src/lsm/fs/file-names.ts'
import type { FileSystem } from '../../src/lsm/fs/file-system.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { systemError } from '../../src/lsm/fs/system-error.ts'
import { readCurrent } from '../../src/lsm/version/current-file.ts'
import { VersionSet } from '../../src/lsm/version/version-set.ts'
import { createRandom } from '../bloom/random.ts'
import { testSeed } from '../support/arbitraries.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { rejectionCode, writeFile } from './log-helpers.ts'
import { numbersOf, tableOf } from './version-helpers.ts'

const directory = '/db'
const generator = createRandom(testSeed())
const random = (): number => generator.below(2 ** 32) / 2 ** 32
/** Replaces the manifest every few edits. */
const options = { minRotationBytes: 150, rotationFactor: 1 }

async function newDirectory(fileSystem: FileSystem): Promise<void> {
  fileSystem.makeDirectory(directory)
  await fileSystem.syncDirectory('/')
}

/** Writes and syncs a table's file, as a job does, and installs it in level 0. */
async function installTable(fileSystem: FileSystem, versions: VersionSet): Promise<number> {
  const number = versions.takeFileNumbers(1)
  const table = tableOf(number, 'a', 'z')
  const file = fileSystem.open(`${directory}/${tableName(number)}`, 'create')
  try {
    file.write(Buffer.alloc(table.bytes, 1), 0)
    await file.sync()
  } finally {
    file.close()
  }
  await versions.install({
    newTables: [{ level: 0, table }],
    logNumber: versions.logNumber,
    lastSequence: table.largestSequence
  })
  return number
}

async function recoveredTables(fileSystem: FileSystem): Promise<number[]> {
  const versions = await VersionSet.recover(fileSystem, directory, options)
  await versions.settle()
  const tables = numbersOf(versions.current.levels[0]).reverse()
  await versions.close()
  return tables
}

test('after a crash at any call, every installed edit is recovered, and each completely or not at all', async () => {
  const memory = new MemoryFileSystem()
  const states: { readonly crashed: MemoryFileSystem; readonly installed: number; readonly begun: number }[] = []
  const tables: number[] = []
  let isCreated = false
  let begun = 0
  const crash = (): void => {
    const clones = Array.from({ length: 10 }, () => memory.crashClone({ random }))
    for (const crashed of [...memory.crashStates(), ...clones]) {
      if (!isCreated && !crashed.list('/').includes('db')) continue
      states.push({ crashed, installed: isCreated ? tables.length : -1, begun })
    }
  }
  const fileSystem = new FaultyFileSystem(memory, { before: crash, after: crash })
  await newDirectory(fileSystem)
  const versions = await VersionSet.create(fileSystem, directory, options)
  isCreated = true
  for (begun = 1; begun <= 8; begun++) {
    tables.push(await installTable(fileSystem, versions))
  }
  assert.ok(versions.manifestNumber > 1, 'the manifest was replaced')
  for (const { crashed, installed, begun } of states) {
    if (readCurrent(crashed, directory) === undefined) {
      assert.is(installed, -1, crashed.origin)
      const created = await VersionSet.create(crashed, directory)
      await created.close()
      continue
    }
    const found = await recoveredTables(crashed)
    assert.ok(found.length >= installed && found.length <= begun, `${crashed.origin}: ${found.length} of ${installed}`)
    assert.equal(
      found,
      found.map((_, i) => tables[i] ?? found[i])
    )
    // The recovered state is durable: the worst crash right after the recovery changes nothing.
    const [worst] = crashed.crashStates()
    assert.equal(await recoveredTables(worst ?? crashed), found, crashed.origin)
  }
  assert.ok(states.length > 1000)
  console.log(`${states.length} crash states`)
})

test('settle() makes durable what recover() returned, also after a kill that came before a sync', async () => {
  const memory = new MemoryFileSystem()
  const killed: MemoryFileSystem[] = []
  const fileSystem = new FaultyFileSystem(memory, { after: () => void killed.push(memory.snapshot()) })
  await newDirectory(fileSystem)
  const versions = await VersionSet.create(fileSystem, directory, options)
  killed.length = 0
  for (let i = 0; i < 6; i++) await installTable(fileSystem, versions)
  for (const survivor of killed) {
    const manifest = readCurrent(survivor, directory)
    const found = await recoveredTables(survivor)
    for (const crashed of survivor.crashStates()) {
      assert.is(readCurrent(crashed, directory), manifest, crashed.origin)
      assert.equal(await recoveredTables(crashed), found, crashed.origin)
    }
  }
})

test('a manifest that is replaced before it was settled needs no settling any more', async () => {
  const fileSystem = new MemoryFileSystem()
  await newDirectory(fileSystem)
  const versions = await VersionSet.create(fileSystem, directory)
  const tables = [await installTable(fileSystem, versions), await installTable(fileSystem, versions)]
  await versions.consolidate()
  await versions.close()
  const recovered = await VersionSet.recover(fileSystem, directory, { minRotationBytes: 0, rotationFactor: 1 })
  const { manifestNumber } = recovered
  tables.push(await installTable(fileSystem, recovered))
  assert.ok(recovered.manifestNumber > manifestNumber)
  tables.push(await installTable(fileSystem, recovered))
  await recovered.close()
  assert.equal(await recoveredTables(fileSystem), tables)
})

test('consolidate() replaces a manifest that has edits; a crash at any call leaves one with the same state', async () => {
  const memory = new MemoryFileSystem()
  const states: MemoryFileSystem[] = []
  let isClosing = false
  const crash = (): void => {
    if (isClosing) states.push(...memory.crashStates())
  }
  const fileSystem = new FaultyFileSystem(memory, { before: crash, after: crash })
  await newDirectory(fileSystem)
  const versions = await VersionSet.create(fileSystem, directory, { minRotationBytes: 1000, rotationFactor: 100 })
  await versions.consolidate()
  assert.is(versions.manifestNumber, 1, 'a new one is short enough')
  const tables: number[] = []
  for (let i = 0; i < 8; i++) tables.push(await installTable(fileSystem, versions))
  const deletedTables = tables.slice(1).map((number) => ({ level: 0, number }))
  await versions.install({ deletedTables })
  assert.is(versions.manifestNumber, 1)
  isClosing = true
  await versions.consolidate()
  assert.ok(versions.manifestNumber > 1)
  await versions.close()
  assert.ok(states.length > 10)
  for (const crashed of [memory, ...states]) assert.equal(await recoveredTables(crashed), tables.slice(0, 1))
})

test('if the Nth call fails, its edit and all later ones reject, and a reopen finds the earlier tables', async () => {
  let outcomes = 0
  for (let at = 1; ; at++) {
    const memory = new MemoryFileSystem()
    const fileSystem = new FaultyFileSystem(memory)
    await newDirectory(fileSystem)
    const versions = await VersionSet.create(fileSystem, directory, options)
    const tables = [await installTable(fileSystem, versions), await installTable(fileSystem, versions)]
    const before = versions.current
    fileSystem.fail({ at, code: at % 2 === 0 ? 'EIO' : 'ENOSPC', isPartial: at % 3 === 0 })
    const installs = [{}, {}, {}].map((edit) => rejectionCode(versions.install(edit)))
    const codes = await Promise.all(installs)
    const hasFailed = fileSystem.matches >= at
    fileSystem.heal()
    const failed = codes.filter((code) => code !== undefined)
    if (!hasFailed) {
      assert.equal(failed, [])
      await versions.close()
      break
    }
    outcomes++
    if (failed.length > 0) {
      assert.ok(failed.every((code) => code === 'LEVEL_IO_ERROR'))
      assert.ok(versions.failure !== undefined)
      assert.is(codes.indexOf('LEVEL_IO_ERROR') + failed.length, 3, 'nothing is installed after a failure')
      assert.is(await rejectionCode(versions.install({})), 'LEVEL_IO_ERROR')
      if (failed.length === 3) assert.is(versions.current, before)
    }
    await versions.close()
    assert.equal(fileSystem.openFiles, [], `call ${at}`)
    assert.equal(await recoveredTables(memory), tables)
    assert.equal(await recoveredTables(memory.crashClone({ random })), tables)
  }
  assert.ok(outcomes > 10, `${outcomes} calls`)
})

test('if the Nth call of create() or recover() fails, no file stays open and the next attempt succeeds', async () => {
  for (const recovers of [false, true]) {
    for (let at = 1; ; at++) {
      const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
      await newDirectory(fileSystem)
      if (recovers) await (await VersionSet.create(fileSystem, directory)).close()
      fileSystem.fail({ at, code: 'EIO' })
      const opening = recovers ? VersionSet.recover(fileSystem, directory) : VersionSet.create(fileSystem, directory)
      const code = await rejectionCode(opening.then((versions) => versions.close()))
      const hasFailed = fileSystem.matches >= at
      fileSystem.heal()
      assert.equal(fileSystem.openFiles, [], `call ${at}`)
      if (!hasFailed) {
        assert.is(code, undefined)
        break
      }
      assert.ok(code === 'LEVEL_IO_ERROR' || code === undefined, code)
      const exists = readCurrent(fileSystem, directory) !== undefined
      const again = exists ? VersionSet.recover(fileSystem, directory) : VersionSet.create(fileSystem, directory)
      await (await again).close()
    }
  }
})

test('edits are installed one after another, in the order of the calls', async () => {
  const fileSystem = new MemoryFileSystem()
  await newDirectory(fileSystem)
  const versions = await VersionSet.create(fileSystem, directory)
  const done: number[] = []
  const all = [1, 2, 3, 4].map(async (i) => {
    await versions.install({
      newTables: [{ level: 1, table: tableOf(90 + i, `${i}a`, `${i}b`, { largestSequence: 0, smallestSequence: 0 }) }]
    })
    assert.is(versions.current.tableCount, i)
    done.push(i)
  })
  assert.is(versions.current.tableCount, 0, 'nothing is current before it is durable')
  await Promise.all(all)
  assert.equal(done, [1, 2, 3, 4])
  await versions.close()
  await versions.close()
})

test('an edit that does not fit the state is refused, and later ones are installed', async () => {
  const fileSystem = new MemoryFileSystem()
  await newDirectory(fileSystem)
  const versions = await VersionSet.create(fileSystem, directory)
  const wrong = [
    { deletedTables: [{ level: 0, number: 5 }] },
    { logNumber: 5 },
    { lastSequence: 5 },
    { newTables: [{ level: 0, table: tableOf(3, 'a', 'b') }] },
    { newTables: [{ level: 0, table: tableOf(3, 'a', 'b') }], logNumber: 5, lastSequence: 7 }
  ]
  for (const edit of wrong) assert.is(await rejectionCode(versions.install(edit)), 'LEVEL_CORRUPTION')
  assert.is(versions.failure, undefined)
  await installTable(fileSystem, versions)
  assert.is(versions.current.tableCount, 1)
  await versions.close()
})

test('retained versions stay alive, and so do their tables', async () => {
  const fileSystem = new MemoryFileSystem()
  await newDirectory(fileSystem)
  let unused = 0
  const versions = await VersionSet.create(fileSystem, directory, { onVersionUnused: () => unused++ })
  const number = await installTable(fileSystem, versions)
  assert.is(unused, 1, 'the empty version')
  const reader = versions.current.retain()
  await versions.install({ deletedTables: [{ level: 0, number }] })
  assert.equal([...versions.liveTables()], [number])
  assert.is(versions.liveVersions.size, 2)
  assert.is(unused, 1)
  reader.release()
  assert.equal([...versions.liveTables()], [])
  assert.is(unused, 2)
  await versions.close()
})

test('create() refuses a directory with tables or logs but without CURRENT', async () => {
  for (const name of ['000005.sst', '000007.wal']) {
    const fileSystem = new MemoryFileSystem()
    await newDirectory(fileSystem)
    writeFile(fileSystem, `${directory}/${name}`, Buffer.alloc(3))
    assert.is(await rejectionCode(VersionSet.create(fileSystem, directory)), 'LEVEL_CORRUPTION')
    assert.equal(fileSystem.list(directory), [name])
  }
})

test('recover() does not reuse the numbers of existing files', async () => {
  const fileSystem = new MemoryFileSystem()
  await newDirectory(fileSystem)
  await (await VersionSet.create(fileSystem, directory)).close()
  for (const name of ['000041.wal', '000052.tmp', '000063.vf', '9007199254740991.sst', '000099.txt']) {
    writeFile(fileSystem, `${directory}/${name}`, Buffer.alloc(3))
  }
  const versions = await VersionSet.recover(fileSystem, directory)
  assert.is(versions.takeFileNumbers(3), 64)
  assert.is(versions.takeFileNumbers(1), 67)
  await versions.close()
})

test('a manifest that cannot be replaced for want of descriptors is appended to, and replaced later', async () => {
  const memory = new MemoryFileSystem()
  let isOut = false
  const fileSystem = new FaultyFileSystem(memory, {
    before: ({ operation, path }) => {
      if (isOut && operation === 'open' && !path.endsWith('.sst')) throw systemError('EMFILE', 'open', path)
    }
  })
  await newDirectory(fileSystem)
  const versions = await VersionSet.create(fileSystem, directory, options)
  const tables = [await installTable(fileSystem, versions), await installTable(fileSystem, versions)]
  isOut = true
  const before = versions.manifestNumber
  for (let i = 0; i < 5; i++) tables.push(await installTable(fileSystem, versions))
  assert.is(versions.manifestNumber, before)
  assert.is(versions.failure, undefined)
  isOut = false
  tables.push(await installTable(fileSystem, versions))
  assert.ok(versions.manifestNumber > before)
  await versions.close()
  assert.equal(await recoveredTables(fileSystem), tables)
})

test.run()
