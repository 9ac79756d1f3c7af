import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { documentOf, keyOf, smallOptions, valueOptions } from './tools-content.ts'
import { flip, namesOf, readBytes, truncate } from './tools-damage.ts'
import { contentOf, filledStore, fillLevel, location, openLevel, rejection, tablesAlone } from './tools-stores.ts'

function repair(fileSystem: MemoryFileSystem, options = smallOptions) {
  return LsmLevel.repair(location, { ...options, fileSystem })
}

async function assertSound(fileSystem: MemoryFileSystem, options = smallOptions): Promise<void> {
  const db = await openLevel(fileSystem, options)
  assert.equal((await db.verify()).problems, [])
  await db.put('later', 'value')
  await db.compactRange('', '~')
  assert.equal((await db.verify()).problems, [])
  await db.close()
}

for (const [what, pattern] of [
  ['CURRENT', /^CURRENT$/],
  ['the manifest', /^MANIFEST/],
  ['CURRENT and the manifest', /^(CURRENT|MANIFEST)/]
] as const) {
  test(`repair() without ${what} restores everything`, async () => {
    const { fileSystem, content } = await filledStore()
    for (const name of namesOf(fileSystem, pattern)) fileSystem.remove(`${location}/${name}`)
    await rejection(openLevel(fileSystem))
    const report = await repair(fileSystem)
    assert.ok(report.lost.length > 0)
    assert.equal(await contentOf(fileSystem), content)
    await assertSound(fileSystem)
  })
}

test('repair() does not change an intact database', async () => {
  const { fileSystem, content } = await filledStore(valueOptions)
  const report = await repair(fileSystem, valueOptions)
  assert.is(report.source, 'manifest')
  assert.equal(report.lost, [])
  assert.equal(report.movedFiles, [])
  assert.is(report.loggedOperations, 10)
  assert.equal(await contentOf(fileSystem, valueOptions), content)
  await assertSound(fileSystem, valueOptions)
})
test('a changed byte in a table loses only the entries of its block', async () => {
  const { fileSystem, content } = await filledStore()
  const [name = ''] = namesOf(fileSystem, /\.sst$/)
  flip(fileSystem, name, 40)
  const report = await repair(fileSystem)
  assert.is(report.source, 'manifest')
  assert.equal(report.movedFiles, [name])
  assert.ok(report.lost.some(({ path, offset }) => path.endsWith(name) && offset === 0))
  const found = await contentOf(fileSystem)
  assert.ok(countDifferences(found, content) < 30, `${countDifferences(found, content)} entries`)
  assert.equal(namesOf(fileSystem, /./, `${location}/lost`), [name])
  await assertSound(fileSystem)
})

test('all entries of a table with a damaged key filter, index, metaindex or footer are restored', async () => {
  for (const offset of [-1, -20, -64, -80, -120, -200, -400]) {
    const { fileSystem, content } = await filledStore()
    const [name = ''] = namesOf(fileSystem, /\.sst$/)
    flip(fileSystem, name, offset)
    const report = await repair(fileSystem)
    assert.equal(report.movedFiles, [name], `offset ${offset}`)
    assert.equal(await contentOf(fileSystem), content, `offset ${offset}`)
    await assertSound(fileSystem)
  }
})

test('the beginning of a truncated table is restored', async () => {
  const { fileSystem, content } = await filledStore()
  const [name = ''] = namesOf(fileSystem, /\.sst$/)
  truncate(fileSystem, name, readBytes(fileSystem, name).length >> 1)
  const report = await repair(fileSystem)
  assert.ok(report.lost.some(({ what }) => /\d+ of \d+ entries/.test(what)))
  const found = await contentOf(fileSystem)
  const differences = countDifferences(found, content)
  assert.ok(differences > 0 && differences < 100, `${differences} entries`)
  await assertSound(fileSystem)
})

test('a missing or empty table is reported, and the database opens', async () => {
  for (const damage of ['missing', 'empty'] as const) {
    const { fileSystem } = await filledStore()
    const [name = ''] = namesOf(fileSystem, /\.sst$/)
    if (damage === 'missing') fileSystem.remove(`${location}/${name}`)
    else truncate(fileSystem, name, 0)
    const report = await repair(fileSystem)
    assert.ok(report.lost.some(({ path }) => path.endsWith(name)))
    await assertSound(fileSystem)
  }
})

test('a log is restored up to the damage', async () => {
  const { fileSystem, content } = await filledStore()
  const log = namesOf(fileSystem, /\.wal$/).at(-1) ?? ''
  const bytes = readBytes(fileSystem, log)
  flip(fileSystem, log, bytes.indexOf(keyOf(305)))
  const report = await repair(fileSystem)
  assert.is(report.loggedOperations, 5)
  assert.equal(report.movedFiles, [log])
  assert.is(report.lost.length, 1)
  for (let i = 305; i < 310; i++) content.delete(keyOf(i))
  assert.equal(await contentOf(fileSystem), content)
})

test('damage in one of several logs loses the rest of that log, but not the next one', async () => {
  const fileSystem = new MemoryFileSystem()
  const db = await openLevel(fileSystem, { writeBufferSize: 1000 })
  const file = fileSystem.open.bind(fileSystem)
  // Flushes fail, so that their logs stay.
  fileSystem.open = (path, mode) => {
    if (mode === 'create' && path.endsWith('.sst')) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
    return file(path, mode)
  }
  for (let i = 0; i < 10; i++) await db.put(keyOf(i), documentOf(i))
  const crashed = fileSystem.snapshot()
  await db.close()
  const logs = namesOf(crashed, /\.wal$/)
  const [first = '', second = ''] = logs.filter((name) => readBytes(crashed, name).length > 0)
  assert.ok(second !== '', `logs ${logs}`)
  flip(crashed, first, 30)
  const report = await repair(crashed)
  assert.ok(report.movedFiles.includes(first))
  assert.ok(report.loggedOperations > 0)
  assert.ok(
    report.lost.some(({ what }) => /the batches before this log, from sequence 1/.test(what)),
    JSON.stringify(report.lost)
  )
  await assertSound(crashed)
})

test('without a manifest, the newest version of a key is shown, whatever else its table contains', async () => {
  const lower = [
    { key: 'a', sequence: 5, value: 'old' },
    { key: 'c', sequence: 6, value: 'old' },
    { key: 'z', sequence: 100, value: 'new' }
  ]
  const upper = [
    { key: 'a', sequence: 50, value: 'new' },
    { key: 'c', sequence: 51, value: undefined }
  ]
  for (const tables of [
    [lower, upper],
    [upper, lower]
  ]) {
    const { fileSystem } = tablesAlone(...tables)
    const report = await repair(fileSystem)
    assert.is(report.source, 'tables')
    assert.equal(
      [...(await contentOf(fileSystem))],
      [
        ['a', 'new'],
        ['z', 'new']
      ]
    )
    await assertSound(fileSystem)
  }
})

test('entries in several tables, as in inputs and outputs of a merge, count once', async () => {
  const older = { key: 'a', sequence: 5, value: '5' }
  const newer = { key: 'a', sequence: 9, value: '9' }
  const other = { key: 'b', sequence: 7, value: '7' }
  const { fileSystem } = tablesAlone([older, other], [newer], [newer, other])
  assert.is((await repair(fileSystem)).entries, 2)
  assert.equal(
    [...(await contentOf(fileSystem))],
    [
      ['a', '9'],
      ['b', '7']
    ]
  )
  await assertSound(fileSystem)
})

test('tables that do not overlap in time or by key are not rewritten', async () => {
  const { fileSystem } = tablesAlone(
    [
      { key: 'a', sequence: 1, value: '1' },
      { key: 'b', sequence: 2, value: '2' }
    ],
    [{ key: 'a', sequence: 3, value: '3' }],
    [{ key: 'x', sequence: 1, value: '1' }]
  )
  await repair(fileSystem)
  assert.equal(namesOf(fileSystem, /\.sst$/), ['000001.sst', '000002.sst', '000003.sst'])
  assert.equal([...(await contentOf(fileSystem)).values()], ['3', '2', '1'])
})

test('a missing log is reported', async () => {
  const { fileSystem, content } = await filledStore()
  const log = namesOf(fileSystem, /\.wal$/).at(-1) ?? ''
  fileSystem.remove(`${location}/${log}`)
  await rejection(openLevel(fileSystem))
  const report = await repair(fileSystem)
  assert.equal(report.lost, [
    { path: `${location}/${log}`, offset: undefined, bytes: undefined, what: 'the log is missing' }
  ])
  for (let i = 300; i < 310; i++) content.delete(keyOf(i))
  assert.equal(await contentOf(fileSystem), content)
})

test('on disk, repair() puts damaged files aside, and the database can be read and written', async () => {
  const path = join(temporaryDirectory(), 'db')
  const db = new LsmLevel<string, string>(path, smallOptions)
  const content = await fillLevel(db)
  await db.close()
  rmSync(join(path, 'CURRENT'))
  const table = readdirSync(path).find((name) => name.endsWith('.sst')) ?? ''
  const bytes = readFileSync(join(path, table))
  writeFileSync(join(path, table), bytes.fill(0, bytes.length - 64))
  await rejection(new LsmLevel(path).open())
  const report = await LsmLevel.repair(path, smallOptions)
  assert.equal(report.movedFiles, [table])
  assert.equal(readFileSync(join(path, 'lost', table)), bytes)
  const again = new LsmLevel<string, string>(path, smallOptions)
  assert.equal(new Map(await again.iterator().all()), content)
  await again.put('k', 'v', { sync: true })
  assert.equal((await again.verify()).problems, [])
  await again.close()
  await LsmLevel.destroy(path)
  assert.not(existsSync(path))
})

for (const [what, put] of [
  ['a directory', (path: string) => mkdirSync(path)],
  ['a directory with a file', (path: string) => mkdirSync(join(path, 'inner'), { recursive: true })],
  ['a link that leads nowhere', (path: string) => symlinkSync('nowhere', path)]
] as const) {
  test(`on disk, ${what} in the place of a file, or beside the files, is put aside`, async () => {
    const sound = join(temporaryDirectory(), 'db')
    const db = new LsmLevel<string, string>(sound, smallOptions)
    const content = await fillLevel(db)
    cpSync(sound, `${sound}2`, { recursive: true })
    await db.close()
    rmSync(join(`${sound}2`, 'LOCK'))
    const names = readdirSync(`${sound}2`)
    const [table = ''] = names.filter((name) => name.endsWith('.sst'))
    const [log = ''] = names.filter((name) => name.endsWith('.wal'))
    const [manifest = ''] = names.filter((name) => name.startsWith('MANIFEST'))
    const foreign = ['900000.sst', '900000.wal', '900000.vf', 'MANIFEST-900000']
    for (const name of ['CURRENT', table, log, manifest, ...foreign]) {
      const path = `${sound}-${name}`
      cpSync(`${sound}2`, path, { recursive: true })
      mkdirSync(join(path, 'lost', name), { recursive: true })
      rmSync(join(path, name), { force: true })
      put(join(path, name))
      const { lost } = await LsmLevel.repair(path, smallOptions)
      assert.ok(
        lost.some((each) => each.path.endsWith(name) && each.what === 'is not a file'),
        name
      )
      assert.ok(readdirSync(join(path, 'lost')).includes(`${name}.2`), name)
      const again = new LsmLevel<string, string>(path, smallOptions)
      const found = new Map(await again.iterator().all())
      if (name !== table && name !== log) assert.equal(found, content, name)
      else assert.ok(found.size > 0, name)
      assert.equal((await again.verify()).problems, [], name)
      await again.close()
    }
  })
}

test('an aborted repair() leaves the damaged store as it is, wherever the signal fires', async () => {
  const { fileSystem, content } = await filledStore()
  const [damaged = ''] = namesOf(fileSystem, /\.sst$/)
  flip(fileSystem, damaged, 40)
  const names = namesOf(fileSystem, /./)
  let opens = 0
  for (let isDone = false; !isDone; opens++) {
    const store = fileSystem.snapshot()
    const controller = new AbortController()
    let left = opens
    const open = store.open.bind(store)
    store.open = (path, mode) => {
      if (mode === 'read' && left-- === 0) controller.abort('enough')
      return open(path, mode)
    }
    const repairing = LsmLevel.repair(location, { ...smallOptions, fileSystem: store, signal: controller.signal })
    isDone = await repairing.then(
      () => true,
      (error: { readonly code: string; readonly cause: unknown }) => {
        assert.is(error.code, 'LEVEL_ABORTED')
        assert.is(error.cause, 'enough')
        assert.equal(namesOf(store, /./), names)
        return false
      }
    )
    await repair(store)
    assert.ok(countDifferences(await contentOf(store), content) < 30)
  }
  assert.ok(opens > 5, `${opens} files were opened`)
})

function countDifferences(found: ReadonlyMap<string, string>, content: ReadonlyMap<string, string>): number {
  const keys = new Set([...found.keys(), ...content.keys()])
  return [...keys].filter((key) => found.get(key) !== content.get(key)).length
}

test.run()
