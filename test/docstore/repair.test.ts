import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AbortedError, type Database, type Document, open, repairDatabase } from '../../src/index.ts'
import { LsmLevel } from '../../src/lsm/index.ts'
import { rejects, scratchPath } from './scratch.ts'

const small = { lsm: { writeBufferSize: 64 * 1024 } } as const

const documents = (count: number): Document[] =>
  Array.from({ length: count }, (_, i) => ({ _id: i, n: i % 100, key: `k${i}`, text: `number ${i} `.repeat(5) }))

/** A database with collections of several kinds, deletions, replacements, and a unique index. */
async function fill(location: string, store: 'lsm' | 'level' = 'lsm'): Promise<Map<string, Map<unknown, Document>>> {
  await using db = await open(location, { store, index: { segmentBits: 512 }, ...(store === 'lsm' && small) })
  await db.insertMany(documents(5000))
  await db.createIndex({ key: 1 }, { unique: true })
  await db.deleteMany({ n: 7 })
  await db.updateMany({ n: 8 }, { $set: { text: 'changed' } })
  await db.collection('none', { index: 'none' }).insertMany(documents(300))
  await db.collection('computed', { ids: 'reversible' }).insertMany(documents(200))
  await db.collection('empty').insertMany([])
  await db.collection('dropped').insertMany(documents(50))
  await db.dropCollection('dropped')
  return await contents(db)
}

async function contents(db: Database): Promise<Map<string, Map<unknown, Document>>> {
  const all = new Map<string, Map<unknown, Document>>()
  for (const { name } of db.listCollections()) {
    const found = await db.collection(name).find().toArray()
    all.set(name, new Map(found.map((document) => [document._id, document])))
  }
  return all
}

/** Checks the new database by itself. @returns its contents */
async function checked(location: string): Promise<Map<string, Map<unknown, Document>>> {
  await using db = await open(location)
  assert.equal((await db.verify()).problems, [])
  return await contents(db)
}

async function changeRecords(
  location: string,
  area: string,
  change: (records: ReturnType<typeof recordsIn>) => Promise<void>
): Promise<void> {
  await using lsm = new LsmLevel<Uint8Array, Uint8Array>(location, { keyEncoding: 'view', valueEncoding: 'view' })
  await lsm.open()
  await change(recordsIn(lsm, area))
}

function recordsIn(lsm: LsmLevel<Uint8Array, Uint8Array>, area: string) {
  return lsm.sublevel<Uint8Array, string>(area, { keyEncoding: 'view', valueEncoding: 'utf8' })
}

for (const store of ['lsm', 'level'] as const) {
  test(`everything of a sound database on ${store} is saved, with its declared indexes, by the same engine`, async () => {
    const location = scratchPath()
    const target = scratchPath()
    const expected = await fill(location, store)
    let last = 0
    const result = await repairDatabase(location, target, {
      onProgress: ({ documents: count }) => {
        last = count
      }
    })
    assert.equal(result, { collections: 4, documents: 5450, problems: [], problemCount: 0 })
    assert.is(last, 5450)
    assert.equal(await checked(target), expected)
    assert.equal(await checked(location), expected)
    await using db = await open(target)
    assert.is(JSON.parse(readFileSync(join(target, 'PETALDB'), 'utf8')).store, store)
    assert.equal(db.listIndexes(), [{ name: 'key_1', key: { key: 1 }, unique: true, sparse: false }])
    assert.is((await db.stats()).collections.find(({ name }) => name === 'none')?.index.kind, 'none')
    await rejects(db.insertOne({ key: 'k1' }), 'DuplicateKey')
    await rejects(db.collection('computed').insertOne({ _id: 'text' }), 'BadValue')
  })
}

test('what is left of a damaged table is saved, and what is lost is told', async () => {
  const location = scratchPath()
  const target = scratchPath()
  const original = await fill(location)
  const tables = readdirSync(location).filter((name) => name.endsWith('.sst'))
  const largest = tables.reduce((a, b) => (sizeOf(location, a) >= sizeOf(location, b) ? a : b))
  const bytes = readFileSync(join(location, largest))
  bytes.fill(0xee, bytes.length >> 1, (bytes.length >> 1) + 5000)
  writeFileSync(join(location, largest), bytes)
  const { problems, problemCount } = await repairDatabase(location, target)
  assert.ok(problemCount > 0)
  assert.ok(problems.some(({ kind, what }) => kind === 'lost' && what.includes(largest)))
  assert.ok(existsSync(join(location, 'lost', largest)))
  const saved = await checked(target)
  assert.equal([...saved.keys()].sort(), [...original.keys()].sort())
  let count = 0
  for (const [name, found] of saved) {
    count += found.size
    for (const [id, document] of found) {
      // An older version may reappear where a newer one, or its deletion, is lost.
      const { text: _, ...rest } = document
      const { text: __, ...expected } = documents(Number(id) + 1).at(-1) as Document
      assert.equal(rest, expected, name)
    }
  }
  assert.ok(count > 4500, `${count} documents`)
})

function sizeOf(location: string, name: string): number {
  return statSync(join(location, name)).size
}

test('documents are saved without the catalog, the states, the _ids, the index and the declared indexes', async () => {
  const location = scratchPath()
  const target = scratchPath()
  const original = await fill(location)
  for (const area of ['meta', '1.ids', '1.index', '1.x1']) {
    await changeRecords(location, area, (records) => records.clear())
  }
  const { collections, documents: count, problems } = await repairDatabase(location, target)
  assert.equal([collections, count, problems], [3, 5450, []])
  const saved = await checked(target)
  assert.equal(
    [...saved.values()].sort((a, b) => b.size - a.size),
    [...original.values()].filter(({ size }) => size > 0).sort((a, b) => b.size - a.size)
  )
  assert.equal([...saved.keys()].sort(), ['recovered_1', 'recovered_2', 'recovered_3'])
})

const definition = { id: 1, name: 'a', fields: [{ path: 'n', direction: 1 }], unique: false, sparse: false }

/** Records of the catalog with a right checksum, what is told of them, and the names of the saved collections. */
const malformed: readonly (readonly [key: string, record: unknown, what: RegExp, names: readonly string[]])[] = [
  ['format', '{', /'format'/, ['computed', 'default']],
  ['format', {}, /'format'/, ['computed', 'default']],
  ['name:default', '{', /'name:default'/, ['computed', 'recovered_1']],
  ['name:default', { number: 'x', index: 'sharded' }, /'name:default'/, ['computed', 'recovered_1']],
  ['name:default', { number: 1 }, /'name:default'/, ['computed', 'default']],
  ['name:default', { number: 1, index: 'other' }, /'other'/, ['computed', 'default']],
  ['name:default', { number: 1, index: 'none', declared: [{}] }, /'name:default'/, ['computed', 'default']],
  [
    'name:default',
    { number: 1, index: 'none', declared: [{ ...definition, unique: 5 }] },
    /unique/,
    ['computed', 'default']
  ],
  [
    'name:default',
    { number: 1, index: 'none', declared: [definition, { ...definition, fields: [{ path: 'm', direction: 1 }] }] },
    /already exists/,
    ['computed', 'default']
  ],
  [
    'name:default',
    { number: 1, index: 'none', declared: [{ ...definition, expireAfterSeconds: -1 }] },
    /expireAfterSeconds/,
    ['computed', 'default']
  ],
  ['name:computed', { number: 2, index: 'sharded', ids: {} }, /the ids of 'computed'/, ['computed', 'default']],
  [
    'name:computed',
    { number: 2, index: 'sharded', ids: { codec: 'reversible', from: '0', to: '9', key: [1, 2] } },
    /ids/,
    ['computed', 'default']
  ],
  [
    'name:computed',
    { number: 2, index: 'sharded', ids: { codec: 'reversible', from: 0, to: 9, key: ['a', 2] } },
    /ids/,
    ['computed', 'default']
  ],
  [
    'name:computed',
    { number: 2, index: 'none', ids: { codec: 'reversible', from: 0, to: 9, key: [1, 2] } },
    /sharded/,
    ['computed', 'default']
  ],
  ['name:system.x', { number: 3, index: 'none' }, /reserved/, ['computed', 'default', 'recovered_3']],
  ['name:a$b', { number: 3, index: 'none' }, /'a\$b'/, ['computed', 'default', 'recovered_3']]
]

test('a malformed record of the catalog is told, and what it does not tell is as for a new collection', async () => {
  const location = scratchPath()
  {
    await using db = await open(location)
    await db.insertMany(documents(50))
    await db.collection('computed', { ids: 'reversible' }).insertMany(documents(40))
  }
  for (const [key, record, what, names] of malformed) {
    const damaged = scratchPath()
    const target = scratchPath()
    cpSync(location, damaged, { recursive: true })
    const text = typeof record === 'string' ? record : JSON.stringify(record)
    await changeRecords(damaged, 'meta', (records) => records.put(new TextEncoder().encode(key), text))
    const { documents: count, problems } = await repairDatabase(damaged, target)
    assert.is(count, 90, text)
    assert.ok(problems.length > 0 && problems.every((problem) => what.test(problem.what)), JSON.stringify(problems))
    assert.equal([...(await checked(target)).keys()].sort(), names, text)
  }
})

for (const store of ['lsm', 'level'] as const) {
  test(`a database on ${store} whose marker is lost or damaged is saved, and nothing else is touched`, async () => {
    const location = scratchPath()
    const expected = await fill(location, store)
    const marker = join(location, 'PETALDB')
    const damages: readonly (readonly [name: string, damage: () => void])[] = [
      ['missing', () => undefined],
      ['empty', () => writeFileSync(marker, '')],
      ['without a store', () => writeFileSync(marker, '{"magic":"petaldb","format":1}')],
      ['of an unknown store', () => writeFileSync(marker, '{"magic":"petaldb","format":1,"store":"other"}')],
      ['a directory', () => mkdirSync(marker)]
    ]
    for (const [name, damage] of damages) {
      rmSync(marker, { force: true, recursive: true })
      damage()
      await rejects(repairDatabase(location, join(location, 'inside')), 'BadValue')
      const target = scratchPath()
      const { problems } = await repairDatabase(location, target)
      assert.equal(
        problems.map(({ kind, what }) => [kind, what]),
        [['lost', `${marker}: the file is missing or damaged`]],
        name
      )
      assert.equal(await checked(target), expected, name)
    }
    rmSync(marker, { recursive: true })
    writeFileSync(marker, '{"magic":"petaldb","format":99,"store":"lsm"}')
    await rejects(repairDatabase(location, scratchPath()), 'UnsupportedFormat')
  })
}

test('a directory of others without a marker is refused, and not touched', async () => {
  const stores = [LsmLevel, Level].map((Store) => {
    const location = scratchPath()
    return { location, store: new Store<string, string>(location) as Level<string, string> }
  })
  for (const { location, store } of stores) {
    for (let i = 0; i < 1000; i++) await store.put(`!docs!${i}`, `!1.docs! ${i}`)
    await store.close()
    const before = readdirSync(location).sort()
    await rejects(repairDatabase(location, scratchPath()), 'NotADatabase')
    assert.equal(readdirSync(location).sort(), before)
  }
})

test('of documents with the same _id the newer one is saved, and an unreadable one is told', async () => {
  const location = scratchPath()
  const target = scratchPath()
  await fill(location)
  const ordinal = (n: number): Uint8Array => Uint8Array.of(0, 0, 0, 0, 0, 0, n >> 8, n)
  await changeRecords(location, '1.docs', async (records) => {
    await records.put(ordinal(9000), '{"_id":42,"key":"newer"}')
    await records.put(ordinal(9001), '{"_id":43,')
    await records.put(ordinal(9002), '{"key":"without"}')
    await records.put(Uint8Array.of(255, 255), '{"_id":')
    await records.put(Uint8Array.of(255, 255, 1), '{"_id":-1}')
  })
  const { documents: count, problems } = await repairDatabase(location, target)
  assert.is(count, 5452)
  assert.equal(
    problems.map(({ collection, kind }) => `${collection} ${kind}`),
    ['default document', 'default id', 'default document', 'default id']
  )
  assert.match(problems[0]!.what, /^9001: /)
  assert.match(problems[1]!.what, /^9002: .* no _id/)
  assert.match(problems[2]!.what, /^key ffff: /)
  assert.match(problems[3]!.what, /42/)
  assert.equal((await checked(target)).get('default')?.get(42), { _id: 42, key: 'newer' })
})

test('a unique index that older documents would break is told, and not made', async () => {
  const location = scratchPath()
  const target = scratchPath()
  await fill(location)
  await changeRecords(location, '1.docs', (records) =>
    records.put(Uint8Array.of(0, 0, 0, 0, 0, 0, 0x40, 0), '{"_id":"again","key":"k5"}')
  )
  const { problems } = await repairDatabase(location, target)
  assert.equal(
    problems.map(({ collection, kind, what }) => [collection, kind, /^'key_1' was not made: .*k5/.test(what)]),
    [['default', 'index', true]]
  )
  await using db = await open(target)
  assert.equal(db.listIndexes(), [])
})

test('of a LevelDB database damaged records of the log are told, a record that a crash has cut off is not', async () => {
  const location = scratchPath()
  {
    await using db = await open(location, { store: 'level' })
    await db.insertMany(documents(2000))
    for (let n = 0; n < 50; n++) await db.insertOne({ _id: -1 - n, text: 'short' })
    for (const copy of ['sound', 'cut', 'damaged']) cpSync(location, `${location}-${copy}`, { recursive: true })
  }
  for (const copy of ['sound', 'cut', 'damaged']) {
    const [log = ''] = readdirSync(`${location}-${copy}`).filter((name) => name.endsWith('.log'))
    const path = join(`${location}-${copy}`, log)
    const bytes = readFileSync(path)
    if (copy === 'cut') writeFileSync(path, bytes.subarray(0, -20))
    const at = bytes.indexOf('number 700 ')
    assert.ok(at > 0)
    bytes[at] = 'N'.charCodeAt(0)
    if (copy === 'damaged') writeFileSync(path, bytes)
    const { problems } = await repairDatabase(`${location}-${copy}`, scratchPath())
    assert.is(problems.length, copy === 'damaged' ? 1 : 0, JSON.stringify(problems))
    if (copy === 'damaged') assert.match(problems[0]!.what, /\.log: a record is damaged; .* \(at offset \d+\)/)
  }
})

test('a LevelDB database without CURRENT is saved', async () => {
  const location = scratchPath()
  const target = scratchPath()
  const expected = await fill(location, 'level')
  rmSync(join(location, 'CURRENT'))
  const store = new Level(location, { createIfMissing: false })
  await store.open().then(
    () => assert.unreachable(),
    () => {}
  )
  await repairDatabase(location, target)
  assert.equal(await checked(target), expected)
})

test('nothing is changed where the target is taken or the database is missing, foreign or in use', async () => {
  const location = scratchPath()
  await fill(location)
  const before = readdirSync(location).sort()
  const taken = scratchPath()
  await open(taken).then((db) => db.close())
  await rejects(repairDatabase(location, taken), 'DatabaseExists')
  await rejects(repairDatabase(location, join(location, 'inside')), 'BadValue')
  await rejects(repairDatabase(scratchPath(), scratchPath()), 'DatabaseNotFound')
  await rejects(repairDatabase('', scratchPath()), 'BadValue')
  await rejects(repairDatabase(location, scratchPath(), { store: 'level' } as never), 'BadValue')
  const foreign = scratchPath()
  writeFileSync(foreign, 'mine')
  await rejects(repairDatabase(foreign, scratchPath()), 'NotADatabase')
  assert.equal(readdirSync(location).sort(), before)
  await using db = await open(location)
  const target = scratchPath()
  await rejects(repairDatabase(location, target), 'DBPathInUse')
  assert.not(existsSync(target))
  assert.is(await db.countDocuments(), 4950)
})

test('an aborted repair leaves no new database, and the next one saves everything', async () => {
  const location = scratchPath()
  const target = scratchPath()
  const expected = await fill(location)
  const controller = new AbortController()
  const repairing = repairDatabase(location, target, {
    signal: controller.signal,
    onProgress: () => controller.abort()
  })
  try {
    await repairing
    assert.unreachable()
  } catch (error) {
    assert.instance(error, AbortedError)
  }
  assert.not(existsSync(target))
  await repairDatabase(location, target)
  assert.equal(await checked(target), expected)
})

for (const store of ['lsm', 'level'] as const) {
  test(`a repair whose signal fires before anything is copied leaves the damaged files on ${store} as they are`, async () => {
    const location = scratchPath()
    const target = scratchPath()
    const expected = await fill(location, store)
    const before = readdirSync(location).sort()
    const controller = new AbortController()
    const repairing = repairDatabase(location, target, { signal: controller.signal })
    controller.abort(new Error('enough'))
    const { cause } = await rejects(repairing, 'Aborted')
    assert.is((cause as Error).message, 'enough')
    assert.not(existsSync(target))
    assert.equal(readdirSync(location).sort(), before)
    await repairDatabase(location, target)
    assert.equal(await checked(target), expected)
  })
}

test.run()
