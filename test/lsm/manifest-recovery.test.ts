import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { manifestName, tableName } from '../../src/lsm/fs/file-names.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { VersionSet } from '../../src/lsm/version/version-set.ts'
import { readFile, rejectionCode, writeFile } from './log-helpers.ts'
import { numbersOf, tableOf } from './version-helpers.ts'

const directory = '/db'
const manifestPath = `${directory}/${manifestName(1)}`

function newFileSystem(): MemoryFileSystem {
  const fileSystem = new MemoryFileSystem()
  fileSystem.makeDirectory(directory)
  return fileSystem
}

/** Installs a table in level 0, with a file of the right length. */
async function installTable(fileSystem: MemoryFileSystem, versions: VersionSet): Promise<number> {
  const number = versions.takeFileNumbers(1)
  const table = tableOf(number, 'a', 'z')
  writeFile(fileSystem, `${directory}/${tableName(number)}`, Buffer.alloc(table.bytes))
  const newTables = [{ level: 0, table }]
  await versions.install({ newTables, logNumber: number, lastSequence: table.largestSequence })
  return number
}

/** A database with three tables; the end of each edit in the manifest, without the mark after it. */
async function threeEdits(): Promise<{ fileSystem: MemoryFileSystem; ends: readonly number[] }> {
  const fileSystem = newFileSystem()
  const versions = await VersionSet.create(fileSystem, directory)
  const ends = [fileSystem.size(manifestPath) ?? 0]
  for (let i = 0; i < 3; i++) {
    await installTable(fileSystem, versions)
    ends.push(fileSystem.size(manifestPath) ?? 0)
  }
  await versions.close()
  return { fileSystem, ends: ends.map((end) => end - 24) }
}

/** Tables of level 0 after recovery from a manifest of these bytes, oldest first; or the code of the error. */
async function recoverFrom(fileSystem: MemoryFileSystem, manifest: Uint8Array): Promise<number[] | string> {
  const copy = fileSystem.snapshot()
  writeFile(copy, manifestPath, manifest)
  let found: number[] = []
  const code = await rejectionCode(
    VersionSet.recover(copy, directory).then(async (versions) => {
      found = numbersOf(versions.current.levels[0]).reverse()
      await versions.close()
    })
  )
  return code ?? found
}

test('recover() returns the installed state', async () => {
  const fileSystem = newFileSystem()
  const versions = await VersionSet.create(fileSystem, directory)
  const pointer = { level: 3, partition: Buffer.from('!a!'), key: Buffer.from('m') }
  const first = await installTable(fileSystem, versions)
  await versions.install({
    extractor: { name: 'json', version: 1, optionsHash: 5 },
    compactionPointers: [pointer],
    deletedTables: [{ level: 0, number: first }],
    newTables: [{ level: 3, table: tableOf(first, 'a', 'z') }]
  })
  const second = await installTable(fileSystem, versions)
  const next = versions.takeFileNumbers(5)
  await versions.close()
  for (let round = 0; round < 3; round++) {
    const again = await VersionSet.recover(fileSystem, directory)
    assert.equal(again.current.levels.map(numbersOf), [[second], [], [], [first], [], [], []])
    assert.equal(again.current.tables(3)[0]?.smallest, new Uint8Array(Buffer.from('a')))
    assert.equal([again.logNumber, again.lastSequence], [second, 10 * second + 9])
    assert.equal(again.extractor, { name: 'json', version: 1, optionsHash: 5 })
    assert.equal(again.compactionPointer(3, pointer.partition), new Uint8Array(pointer.key))
    assert.is(again.takeFileNumbers(2), next, 'numbers that were not used')
    await again.close()
  }
})

test('a manifest truncated at any byte yields the edits before the cut', async () => {
  const { fileSystem, ends } = await threeEdits()
  const bytes = readFile(fileSystem, manifestPath)
  for (let length = 0; length <= bytes.length; length++) {
    const edits = ends.filter((end) => end <= length).length
    // Without the snapshot it begins with, it is not a manifest.
    const expected = edits === 0 ? 'LEVEL_CORRUPTION' : [2, 3, 4].slice(0, edits - 1)
    assert.equal(await recoverFrom(fileSystem, bytes.subarray(0, length)), expected, `${length} bytes`)
  }
})

test('a changed byte anywhere before the last mark is corruption', async () => {
  const { fileSystem, ends } = await threeEdits()
  const bytes = readFile(fileSystem, manifestPath)
  assert.equal(await recoverFrom(fileSystem, bytes), [2, 3, 4])
  const end = ends.at(-1) ?? 0
  for (let at = 0; at < bytes.length; at++) {
    for (const flip of [0x01, 0x80]) {
      const copy = Buffer.from(bytes)
      copy[at]! ^= flip
      const isInMark = ends.some((edit) => at >= edit && at < edit + 24)
      const found = await recoverFrom(fileSystem, copy)
      // Damage to a mark between edits is noticed; the last mark protects only what precedes it.
      if (at >= end) assert.equal(found, [2, 3, 4], `byte ${at}`)
      else assert.is(found, 'LEVEL_CORRUPTION', `byte ${at}${isInMark ? ' of a mark' : ''}`)
    }
  }
})

test('a manifest with a torn tail is replaced, not continued', async () => {
  const { fileSystem, ends } = await threeEdits()
  const bytes = readFile(fileSystem, manifestPath)
  // The last edit was not acknowledged and is there in part.
  const torn = bytes.subarray(0, (ends[3] ?? 0) - 7)
  writeFile(fileSystem, manifestPath, torn)
  const versions = await VersionSet.recover(fileSystem, directory)
  assert.equal(numbersOf(versions.current.levels[0]), [3, 2])
  const number = await installTable(fileSystem, versions)
  assert.ok(number > 4, 'the number of the file whose edit was lost is not given again')
  assert.equal(readFile(fileSystem, manifestPath), torn)
  assert.ok(versions.manifestNumber > 4)
  await versions.close()
  const again = await VersionSet.recover(fileSystem, directory)
  assert.equal(numbersOf(again.current.levels[0]), [number, 3, 2])
  await again.close()
})

test('a manifest without a torn tail is continued', async () => {
  const { fileSystem } = await threeEdits()
  for (let round = 0; round < 3; round++) {
    const versions = await VersionSet.recover(fileSystem, directory)
    await installTable(fileSystem, versions)
    assert.is(versions.manifestNumber, 1)
    await versions.close()
  }
  const versions = await VersionSet.recover(fileSystem, directory)
  assert.is(versions.current.tableCount, 6)
  await versions.close()
})

test('missing tables and tables of the wrong size are reported as corruption with their count', async () => {
  const { fileSystem } = await threeEdits()
  writeFile(fileSystem, `${directory}/${tableName(2)}`, Buffer.alloc(5))
  fileSystem.remove(`${directory}/${tableName(4)}`)
  try {
    await VersionSet.recover(fileSystem, directory)
    assert.unreachable()
  } catch (error) {
    assert.is((error as { code?: string }).code, 'LEVEL_CORRUPTION')
    assert.match((error as Error).message, '2 missing files')
  }
})

test('a manifest that has grown is replaced by one with the same state', async () => {
  const fileSystem = newFileSystem()
  const versions = await VersionSet.create(fileSystem, directory, { minRotationBytes: 200, rotationFactor: 2 })
  const manifests = new Set<number>()
  for (let i = 0; i < 40; i++) {
    const number = await installTable(fileSystem, versions)
    manifests.add(versions.manifestNumber)
    // Half of the tables go again, so that edits outgrow the snapshot.
    if (i % 2 === 0) await versions.install({ deletedTables: [{ level: 0, number }] })
  }
  assert.ok(manifests.size >= 3 && manifests.size < 30, `${manifests.size} manifests`)
  const expected = numbersOf(versions.current.levels[0])
  assert.is(expected.length, 20)
  const next = versions.takeFileNumbers(1)
  await versions.close()
  const again = await VersionSet.recover(fileSystem, directory)
  assert.is(again.manifestNumber, Math.max(...manifests))
  assert.equal(numbersOf(again.current.levels[0]), expected)
  assert.ok(again.takeFileNumbers(1) >= next)
  await again.close()
})

test.run()
