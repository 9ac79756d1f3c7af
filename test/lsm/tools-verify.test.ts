import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openEngine } from '../../src/lsm/engine/open-engine.ts'
import { writeTrailer } from '../../src/lsm/format/codec.ts'
import { footerBytes, readFooter } from '../../src/lsm/format/footer.ts'
import { readMetaindex } from '../../src/lsm/format/metaindex.ts'
import { logName } from '../../src/lsm/fs/file-names.ts'
import { jsonExtractor, LsmLevel, MemoryFileSystem, type Problem, type StoreOptions } from '../../src/lsm/index.ts'
import { Arena } from '../../src/lsm/memtable/arena.ts'
import { Memtable } from '../../src/lsm/memtable/memtable.ts'
import { checkLogs } from '../../src/lsm/tools/check-files.ts'
import { checkLevels } from '../../src/lsm/tools/check-levels.ts'
import { checkShadowing } from '../../src/lsm/tools/check-shadowing.ts'
import { ProblemList } from '../../src/lsm/tools/problems.ts'
import { verify } from '../../src/lsm/tools/verify.ts'
import { Values } from '../../src/lsm/value/values.ts'
import { createLog } from '../../src/lsm/version/log-files.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import { Version } from '../../src/lsm/version/version.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { closeAll, closeLater, temporaryDirectory } from '../support/temporary-directory.ts'
import { directory } from './compaction-helpers.ts'
import { recordOfPut } from './log-helpers.ts'
import { documentOf, keyOf, smallOptions, valueOptions } from './tools-content.ts'
import { flip, namesOf, readBytes, truncate } from './tools-damage.ts'
import { filledStore, location, openLevel, rejection, tablesAlone } from './tools-stores.ts'
import { tableOf } from './version-helpers.ts'

const random = randomFrom(testSeed())

async function problemsIn(fileSystem: MemoryFileSystem, options: StoreOptions): Promise<readonly Problem[]> {
  const db = await openLevel(fileSystem, options)
  const { problems } = await db.verify()
  await db.close()
  return problems
}

/** Does damage while the store is open, so that opening does not find it first. */
async function problemsAfter(
  damage: (fileSystem: MemoryFileSystem) => void,
  options: StoreOptions = smallOptions
): Promise<readonly Problem[]> {
  const { fileSystem } = await filledStore(options)
  const db = await openLevel(fileSystem, { ...options, autoCompaction: false })
  await db.put('in', 'the log')
  await db.put('in the log', 'too')
  damage(fileSystem)
  const { problems } = await db.verify()
  await db.close().catch(() => undefined)
  return problems
}

function first(fileSystem: MemoryFileSystem, pattern: RegExp): string {
  const [name] = namesOf(fileSystem, pattern)
  assert.ok(name !== undefined, `a file like ${pattern}`)
  return name
}

const sideOptions = { ...valueOptions, values: { ...valueOptions.values, placement: 'side-file' } } as StoreOptions

test('a log that is not in use may be removed while logs are checked', () => {
  const fileSystem = new MemoryFileSystem()
  fileSystem.makeDirectory(directory)
  const log = createLog(fileSystem, directory, 5)
  for (const sequence of [1, 2, 3]) log.append(recordOfPut(sequence))
  createLog(fileSystem, directory, 7).close()
  const problems = new ProblemList()
  const steps = checkLogs(fileSystem, directory, () => ({ logNumbers: [5], lastSequence: 0, sequence: 3 }), problems)
  steps.next()
  fileSystem.remove(join(directory, logName(7)))
  assert.is([...steps].length, 2)
  assert.equal(problems.problems, [])
  log.close()
})

test('verify() finds no problems in an intact store, with and without value filters', async () => {
  for (const options of [smallOptions, valueOptions, sideOptions]) {
    const { fileSystem } = await filledStore(options)
    const db = await openLevel(fileSystem, options)
    const report = await db.verify()
    assert.equal(report.problems, [])
    assert.ok(report.tables > 5 && report.entries > 200, JSON.stringify(report))
    await db.close()
  }
})

test('verify() reports each kind of damage with its file', async () => {
  const cases: [
    what: string,
    kind: Problem['kind'],
    pattern: RegExp,
    damage: (f: MemoryFileSystem, name: string) => void
  ][] = [
    ['a flipped CURRENT', 'manifest', /^CURRENT$/, (f, name) => flip(f, name, 3)],
    ['no CURRENT', 'manifest', /^CURRENT$/, (f, name) => f.remove(`${location}/${name}`)],
    ['a flipped manifest', 'manifest', /^MANIFEST/, (f, name) => flip(f, name, 30)],
    ['no manifest', 'manifest', /^MANIFEST/, (f, name) => f.remove(`${location}/${name}`)],
    ['a flipped log', 'log', /\.wal$/, (f, name) => flip(f, name, 30)],
    ['a log without its end', 'log', /\.wal$/, (f, name) => truncate(f, name, readBytes(f, name).length - 3)],
    ['a flipped block', 'block', /\.sst$/, (f, name) => flip(f, name, 20)],
    ['a flipped footer', 'table', /\.sst$/, (f, name) => flip(f, name, -5)],
    ['a table cut off', 'table', /\.sst$/, (f, name) => truncate(f, name, 100)],
    ['no table', 'table', /\.sst$/, (f, name) => f.remove(`${location}/${name}`)]
  ]
  for (const [what, kind, pattern, damage] of cases) {
    let path = ''
    const problems = await problemsAfter((fileSystem) => {
      const name = first(fileSystem, pattern)
      path = `${location}/${name}`
      damage(fileSystem, name)
    })
    assert.ok(
      problems.some((problem) => problem.kind === kind && problem.path === path),
      `${what}: ${JSON.stringify(problems)}`
    )
  }
})

test('verify() notices a change of any byte of a table or side file', async () => {
  for (const options of [valueOptions, sideOptions]) {
    const { fileSystem } = await filledStore(options)
    const names = [first(fileSystem, /\.sst$/), ...namesOf(fileSystem, /\.vf$/).slice(0, 1)]
    const db = await openLevel(fileSystem, { ...options, autoCompaction: false })
    for (const name of names) {
      const { length } = readBytes(fileSystem, name)
      for (let at = 0; at < length; at += 1 + Math.floor((random() * length) / 20)) {
        flip(fileSystem, name, at)
        const { problems } = await db.verify()
        assert.ok(
          problems.some(({ path }) => path === `${location}/${name}`),
          `byte ${at} of ${name}`
        )
        flip(fileSystem, name, at)
      }
    }
    assert.equal((await db.verify()).problems, [])
    await db.close()
  }
})

test('verify() reports a damaged block with its offset, and still checks the others', async () => {
  const problems = await problemsAfter((fileSystem) => {
    const name = first(fileSystem, /\.sst$/)
    flip(fileSystem, name, 10)
    flip(fileSystem, name, readBytes(fileSystem, name).length >> 2)
  })
  const offsets = problems.filter(({ kind }) => kind === 'block').map(({ offset }) => offset)
  assert.is(offsets.length, 2)
  assert.is(offsets[0], 0)
})

/** Changes a section of a table and its checksum, as a writer with a bug would. */
function rewriteSection(fileSystem: MemoryFileSystem, name: string, section: string, change: (bytes: Buffer) => void) {
  const bytes = readBytes(fileSystem, name)
  const footer = readFooter(bytes.subarray(-footerBytes), name, 0)
  const { offset, payloadBytes } = footer.metaindex
  const handle = readMetaindex(bytes.subarray(offset, offset + payloadBytes), { path: name }).get(section)
  if (handle === undefined) return
  const end = handle.offset + handle.payloadBytes
  assert.is(bytes[end], 0, 'not compressed')
  change(bytes.subarray(handle.offset, end))
  writeTrailer(bytes, handle.offset, end, 0, footer.number, handle.offset)
  const file = fileSystem.open(`${location}/${name}`, 'update')
  file.write(bytes, 0)
  file.close()
}

for (const [section, kind, expected, from] of [
  ['table.key-filter', 'key-filter', /the key filter does not contain \d+ keys of the table/, 6],
  ['values.filter', 'values', /the value filter does not contain \d+ pairs of the table/, 0],
  ['values.blocks', 'values', /the filter of block \d+ does not contain all its pairs/, 12]
] as const) {
  test(`verify() notices that ${section} denies existing entries`, async () => {
    const options = { ...valueOptions, compression: false }
    const problems = await problemsAfter((fileSystem) => {
      for (const name of namesOf(fileSystem, /\.sst$/)) {
        rewriteSection(fileSystem, name, section, (bytes) => bytes.fill(0, from))
      }
    }, options)
    assert.ok(
      problems.some((problem) => problem.kind === kind && expected.test(problem.what)),
      JSON.stringify(problems.slice(0, 3))
    )
  })
}

test('verify() notices zones that leave out existing values', async () => {
  const options = { ...valueOptions, compression: false }
  const problems = await problemsAfter((fileSystem) => {
    for (const name of namesOf(fileSystem, /\.sst$/)) {
      // Shrinks every zone of the blocks as far as possible.
      rewriteSection(fileSystem, name, 'values.zones', (bytes) => {
        for (let at = 5; at < bytes.length; ) {
          const length = bytes[at] ?? 0
          if (length > 0) bytes.copy(bytes, at + 2 + length, at + 1, at + 1 + length)
          at += length > 0 ? 2 + length + (bytes[at + 1 + length] ?? 0) : 1
        }
      })
    }
  }, options)
  assert.ok(
    problems.some(({ what }) => /the zones of block \d+ do not cover/.test(what)),
    JSON.stringify(problems.slice(0, 3))
  )
})

test('verify() notices a filter index that leaves out a table', async () => {
  const { fileSystem } = await filledStore(valueOptions)
  const engine = await openEngine(location, { ...valueOptions, fileSystem })
  const { options } = engine
  assert.ok(options.values !== undefined)
  const values = await Values.open(options.values, fileSystem, location)
  assert.equal((await verify({ engine, values })).problems, [])
  const candidates = values.candidates.bind(values)
  values.candidates = (view, positions) => candidates(view, positions).slice(1)
  const { problems } = await verify({ engine, values })
  assert.ok(problems.some(({ kind, what }) => kind === 'filter-index' && /does not contain table/.test(what)))
  assert.ok(problems.some(({ kind, what }) => kind === 'filter-index' && /excludes the table/.test(what)))
  await engine.close()
})

test('checkLevels() finds tables that overlap or are in the wrong place', () => {
  const found = (levels: TableMeta[][]) => {
    const problems = new ProblemList()
    checkLevels(levels, '/db', problems)
    return problems.problems.map(({ what, path }) => `${path}: ${what}`)
  }
  assert.equal(
    found([
      [tableOf(3, 'a', 'z'), tableOf(2, 'a', 'z')],
      [tableOf(1, 'a', 'b'), tableOf(4, 'c', 'd')]
    ]),
    []
  )
  assert.equal(found([[], [tableOf(1, 'a', 'c'), tableOf(2, 'c', 'd')]]), [
    '/db/000002.sst: level 1: it overlaps table 1'
  ])
  assert.equal(found([[], [tableOf(1, 'b', 'c'), tableOf(2, 'a', 'a')]]), [
    '/db/000002.sst: level 1: it is out of order after table 1'
  ])
  assert.equal(found([[tableOf(1, 'a', 'z'), tableOf(2, 'a', 'z')]]), [
    '/db/000002.sst: level 0: it is out of order after table 1'
  ])
  assert.equal(found([[tableOf(1, 'a', 'b')], [tableOf(1, 'a', 'b')]]), [
    '/db/000001.sst: level 1: it is also in level 0'
  ])
  assert.equal(found([[tableOf(1, 'b', 'a')]]).length, 1)
})

test('checkShadowing() finds a version that is hidden by an older one', async () => {
  const old = { key: 'a', sequence: 5, value: 'old' }
  const recent = { key: 'a', sequence: 9, value: 'recent' }
  const { fileSystem, metas } = tablesAlone([old, { key: 'b', sequence: 20, value: 'x' }], [recent])
  const [lower, upper] = metas
  assert.ok(lower !== undefined && upper !== undefined)
  const check = (levels: TableMeta[][], memtable = new Memtable(new Arena())) => {
    const problems = new ProblemList()
    const places = { version: new Version(levels), buffers: [{ memtable }] }
    for (const _ of checkShadowing(places, new Set(), fileSystem, directory, problems));
    return problems.problems.map(({ path, what }) => `${path}: ${what}`)
  }
  const expected = ['/db/000001.sst: a version with sequence 5 hides sequence 9 of the same key in /db/000002.sst']
  assert.equal(check([[upper], [lower]]), [])
  assert.equal(check([[lower], [upper]]), expected)
  assert.equal(check([[lower, upper]]), expected)
  assert.equal(check([[upper, lower]]), [])
  assert.equal(check([[], [lower], [], [upper]]), expected)
})

test('verify() reports progress, and can be aborted by a signal or by close()', async () => {
  const { fileSystem } = await filledStore()
  const db = await openLevel(fileSystem)
  const seen: string[] = []
  const report = await db.verify({ onProgress: ({ tables, totalTables }) => seen.push(`${tables}/${totalTables}`) })
  assert.is(seen.at(-1), `${report.tables}/${report.tables}`)
  assert.is((await rejection(db.verify({ signal: AbortSignal.abort() }))).code, 'LEVEL_ABORTED')
  const running = rejection(db.verify())
  await db.close()
  assert.is((await running).code, 'LEVEL_ABORTED')
  assert.is((await rejection(db.verify())).code, 'LEVEL_DATABASE_NOT_OPEN')
})

test('verify() finds no problems during writes, flushes and merges', async () => {
  const path = temporaryDirectory()
  const db = closeLater(
    new LsmLevel<string, string>(path, { ...valueOptions, writeBufferSize: 20_000, maxFileSize: 10_000 })
  )
  let isDone = false
  const writing = (async () => {
    for (let i = 0; i < 6000; i += 20) {
      const puts = Array.from({ length: 20 }, (_, n) => db.put(keyOf(Math.floor(random() * 1000)), documentOf(i + n)))
      await Promise.all(puts)
    }
    isDone = true
  })()
  let rounds = 0
  while (!isDone) {
    const { problems } = await db.verify()
    assert.equal(problems, [], `round ${rounds++}`)
  }
  await writing
  assert.ok(rounds > 0)
})

test('verify() ignores value filters of another extractor', async () => {
  const { fileSystem } = await filledStore(valueOptions)
  const extractor = jsonExtractor({ fields: ['color'] })
  assert.equal(await problemsIn(fileSystem, { ...valueOptions, values: { ...valueOptions.values, extractor } }), [])
  assert.equal(await problemsIn(fileSystem, smallOptions), [])
})

test.after(closeAll)
test.run()
