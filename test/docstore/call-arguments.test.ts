/** Invalid arguments of calls: a typed error names the argument, and nothing is done. */
import { existsSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type BulkWriteOperation,
  copyDatabase,
  type Database,
  type Document,
  type ErrorName,
  open
} from '../../src/index.ts'
import { rejects, scratchPath } from './scratch.ts'

const documents: readonly Document[] = Array.from({ length: 300 }, (_, i) => ({ _id: i, n: i % 7 }))

let db: Database

test.before(async () => {
  db = await open('unused', { store: 'memory' })
  await db.insertMany(documents)
  await db.createIndex('n')
})

test.after.each(async () => {
  assert.equal(await db.find().toArray(), documents)
  assert.equal(db.listCollections(), [{ name: 'default', type: 'collection' }])
  assert.is(db.listIndexes().length, 1)
})

test.after(() => db.close())

/** Turns an error thrown by a call that returns no promise into a rejection. */
async function attempt(call: () => unknown): Promise<unknown> {
  return call()
}

const set = { $set: { changed: true } }

/** Every public call that takes options, by the name that its errors use. */
const withOptions: Readonly<Record<string, (options: never) => unknown>> = {
  open: (options) => open(scratchPath(), options),
  copyDatabase: (options) => copyDatabase(db, scratchPath(), options),
  collection: (options) => db.collection('other', options),
  verify: (options) => db.verify(options),
  backup: (options) => db.backup(scratchPath(), options),
  compact: (options) => db.compact(options),
  'index.tune': (options) => db.index.tune(options),
  'index.rebuild': (options) => db.index.rebuild(options),
  insertMany: (options) => db.insertMany([{}], options),
  importLines: (options) => db.importLines([Buffer.from('{}\n')], options),
  find: (options) => db.find({}, options).toArray(),
  findOne: (options) => db.findOne({}, options),
  countDocuments: (options) => db.countDocuments({}, options),
  distinct: (options) => db.distinct('n', {}, options),
  paths: (options) => db.paths({}, options),
  aggregate: (options) => db.aggregate([], options).toArray(),
  updateOne: (options) => db.updateOne({}, set, options),
  updateMany: (options) => db.updateMany({}, set, options),
  replaceOne: (options) => db.replaceOne({}, { changed: true }, options),
  deleteOne: (options) => db.deleteOne({}, options),
  deleteMany: (options) => db.deleteMany({}, options),
  bulkWrite: (options) => db.bulkWrite([{ insertOne: { document: {} } }], options),
  findOneAndUpdate: (options) => db.findOneAndUpdate({}, set, options),
  findOneAndReplace: (options) => db.findOneAndReplace({}, { changed: true }, options),
  findOneAndDelete: (options) => db.findOneAndDelete({}, options),
  createIndex: (options) => db.createIndex('m', options),
  createIndexes: (options) => db.createIndexes([{ key: 'm' }], options),
  rename: (options) => db.rename('other', options),
  watch: (options) => db.watch([], options)
}

/** Public calls that have no options but those of MongoDB's driver that are ignored. */
const withoutOptions: Readonly<Record<string, (options: never) => unknown>> = {
  get: (options) => db.get(1, options),
  getMany: (options) => db.getMany([1], options),
  estimatedDocumentCount: (options) => db.estimatedDocumentCount(options),
  insertOne: (options) => db.insertOne({}, options),
  dropIndex: (options) => db.dropIndex('n_1', options),
  dropIndexes: (options) => db.dropIndexes(options),
  listIndexes: (options) => db.listIndexes(options),
  indexes: (options) => db.indexes(options),
  drop: (options) => db.drop(options),
  dropCollection: (options) => db.dropCollection('default', options),
  listCollections: (options) => db.listCollections(options)
}

const notOptions = [
  [null, 'null'],
  [5, '5'],
  ['text', "'text'"],
  [true, 'true'],
  [[], 'an array'],
  [() => 1, 'function']
] as const

for (const [name, call] of Object.entries({ ...withOptions, ...withoutOptions })) {
  test(`${name} takes options as an object, and nothing else`, async () => {
    for (const [options, shown] of notOptions) {
      const { message } = await rejects(
        attempt(() => call(options as never)),
        'BadValue'
      )
      assert.is(message, `${name} takes options as an object, got ${shown}`)
    }
  })

  test(`${name} takes an AbortSignal as its signal, or has none`, async () => {
    if (Object.hasOwn(withoutOptions, name)) {
      const { message } = await rejects(
        attempt(() => call({ signal: AbortSignal.timeout(1) } as never)),
        'BadValue'
      )
      assert.is(message, `${name} has no option 'signal'`)
      return
    }
    if (name === 'collection' || name === 'rename') return
    for (const [signal, shown] of [...notOptions, [{ aborted: false }, 'object']]) {
      const { message } = await rejects(
        attempt(() => call({ signal } as never)),
        'BadValue'
      )
      assert.is(message, `signal must be an AbortSignal, got ${shown}`)
    }
  })
}

test('onProgress and onSkipped must be functions', async () => {
  const jobs = [
    'copyDatabase',
    'verify',
    'backup',
    'compact',
    'index.tune',
    'index.rebuild',
    'importLines',
    'createIndex'
  ]
  for (const name of jobs) {
    for (const onProgress of [null, 5, {}]) {
      const refused = attempt(() => withOptions[name]?.({ onProgress } as never))
      assert.match((await rejects(refused, 'BadValue')).message, /^onProgress must be a function, got /, name)
    }
  }
  await rejects(db.importLines([Buffer.from('{}\nx\n')], { onSkipped: 'log' as never }), 'BadValue')
})

/** A misspelt option of each call. */
const misspelt: Readonly<Record<string, readonly [string, string]>> = {
  open: ['readonly', 'readOnly'],
  copyDatabase: ['stroe', 'store'],
  collection: ['autorebuild', 'autoRebuild'],
  verify: ['onprogress', 'onProgress'],
  backup: ['signa', 'signal'],
  compact: ['onProgres', 'onProgress'],
  'index.tune': ['dryrun', 'dryRun'],
  'index.rebuild': ['OnProgress', 'onProgress'],
  insertMany: ['ordred', 'ordered'],
  importLines: ['strikt', 'strict'],
  find: ['projeciton', 'projection'],
  findOne: ['srot', 'sort'],
  countDocuments: ['limits', 'limit'],
  distinct: ['colation', 'collation'],
  paths: ['hin', 'hint'],
  aggregate: ['lett', 'let'],
  updateOne: ['upsret', 'upsert'],
  updateMany: ['arrayFilter', 'arrayFilters'],
  replaceOne: ['Upsert', 'upsert'],
  deleteOne: ['maxTimeMs', 'maxTimeMS'],
  deleteMany: ['maxTimeMS ', 'maxTimeMS'],
  bulkWrite: ['order', 'ordered'],
  findOneAndUpdate: ['returnDocumnet', 'returnDocument'],
  findOneAndReplace: ['upser', 'upsert'],
  findOneAndDelete: ['sorted', 'sort'],
  createIndex: ['uniqe', 'unique'],
  createIndexes: ['signals', 'signal'],
  rename: ['droptarget', 'dropTarget'],
  watch: ['fulldocument', 'fullDocument']
}

for (const [name, call] of Object.entries(withOptions)) {
  test(`${name} refuses an unknown option, and suggests the right one`, async () => {
    const [option, meant] = misspelt[name]!
    const refusal = async (given: string): Promise<string> => {
      const { message, details } = await rejects(
        attempt(() => call({ [given]: true } as never)),
        'BadValue'
      )
      assert.is(details.option, given)
      return message
    }
    assert.is(await refusal(option), `${name} has no option '${option}'; did you mean '${meant}'?`)
    // Not even a key that every object inherits is the name of an option.
    for (const other of ['storageEngine', 'constructor', 'toString']) {
      assert.is(await refusal(other), `${name} has no option '${other}'`)
    }
  })
}

test('an undefined option is ignored, known or not, and so is an inherited one', async () => {
  const options = Object.assign(Object.create({ inherited: 1 }), { limit: undefined, lmit: undefined }) as never
  assert.is((await db.find({ n: 1 }, options).toArray()).length, 43)
  assert.is(await db.countDocuments({ n: 1 }, options), 43)
})

test('nested options of open() and collection() are checked, too', async () => {
  const within: readonly (readonly [object, string, string])[] = [
    [{ index: { segmentbits: 512 } }, 'index.segmentbits', 'index.segmentBits'],
    [{ lsm: { cachesize: 1 } }, 'lsm.cachesize', 'lsm.cacheSize'],
    [{ lsm: { values: { filterbits: 1 } } }, 'lsm.values.filterbits', 'lsm.values.filterBits'],
    [{ ids: { codec: 'reversible', form: 1 } }, 'ids.form', 'ids.from'],
    [{ autoRebuild: { deadshare: 0.5 } }, 'autoRebuild.deadshare', 'autoRebuild.deadShare']
  ]
  for (const [options, option, meant] of within) {
    const location = scratchPath()
    const says = (call: string): string => `${call} has no option '${option}'; did you mean '${meant}'?`
    assert.is((await rejects(open(location, options), 'BadValue')).message, says('open'))
    assert.not.ok(existsSync(location))
    if ('lsm' in options) continue
    const refused = attempt(() => db.collection('other', options))
    assert.is((await rejects(refused, 'BadValue')).message, says('collection'))
  }
  // Options of the store that cannot be set here.
  for (const option of ['partitionDepth', 'autoCompaction', 'fileSystem']) {
    await rejects(open(scratchPath(), { lsm: { [option]: 1 } as never }), 'BadValue')
  }
})

test('a misspelt readOnly does not open the directory for writing', async () => {
  const location = scratchPath()
  await rejects(open(location, { creatIfMissing: false } as never), 'BadValue')
  await rejects(open(location, { readonly: true } as never), 'BadValue')
  await rejects(open(location, { ttlInterval: 5 } as never), 'BadValue')
  assert.not.ok(existsSync(location))
})

test('other names of returnDocument are refused with a hint to it', async () => {
  for (const option of ['new', 'returnOriginal', 'returnNewDocument']) {
    for (const name of ['findOneAndUpdate', 'findOneAndReplace']) {
      const refused = attempt(() => withOptions[name]?.({ [option]: true } as never))
      const { message } = await rejects(refused, 'BadValue')
      assert.is(message, `${name} has no option '${option}'; use returnDocument`)
    }
    const { message } = await rejects(db.updateOne({}, set, { [option]: true } as never), 'BadValue')
    assert.is(message, `updateOne has no option '${option}'`)
  }
})

test('an unknown option of an operation of bulkWrite() is refused before any operation runs', async () => {
  const operations: readonly (readonly [string, object, string])[] = [
    ['updateOne', { filter: {}, update: set, upsrt: true }, "upsrt'; did you mean 'upsert'?"],
    ['updateMany', { filter: {}, update: set, upsrt: true }, "upsrt'; did you mean 'upsert'?"],
    ['replaceOne', { filter: {}, replacement: {}, update: set }, "update'"],
    ['deleteOne', { filter: {}, colation: {} }, "colation'; did you mean 'collation'?"],
    ['deleteMany', { filter: {}, limit: 1 }, "limit'"],
    ['insertOne', { document: {}, ordered: true }, "ordered'"]
  ]
  for (const [name, model, said] of operations) {
    const refused = db.bulkWrite([{ deleteMany: { filter: {} } }, { [name]: model } as never])
    const { message } = await rejects(refused, 'BadValue')
    assert.is(message, `${name} of bulkWrite, at 1, has no option '${said}`)
  }
})

test('a list of operations that is emptied or extended after the call changes nothing', async () => {
  await using db = await open('unused', { store: 'memory' })
  const operations: BulkWriteOperation[] = [1, 2, 3].map((_id) => ({ insertOne: { document: { _id } } }))
  const writing = db.bulkWrite(operations)
  operations.length = 0
  operations.push({ deleteMany: { filter: {} } })
  assert.is((await writing).insertedCount, 3)
  assert.is(await db.countDocuments(), 3)
})

test('a signal ends bulkWrite() between two operations, and earlier ones stay', async () => {
  const ended = new AbortController()
  const stop = (filter: object) => ({ deleteOne: { filter: { ...filter, $where: () => ended.abort() } } })
  const operations = [{ insertOne: { document: { _id: 1000 } } }, stop({ _id: 1000 }), { deleteMany: { filter: {} } }]
  await rejects(db.bulkWrite(operations, { ordered: false, signal: ended.signal }), 'Aborted')
  assert.is((await db.deleteOne({ _id: 1000 })).deletedCount, 1)
})

test("every call takes options of MongoDB's driver that make no difference; a session is not one of them", async () => {
  const options = {
    allowDiskUse: true,
    batchSize: 100,
    bypassDocumentValidation: true,
    comment: 'why',
    maxTimeMS: 10_000,
    noCursorTimeout: true,
    readConcern: { level: 'majority' },
    readPreference: 'primary',
    session: null,
    writeConcern: { w: 1 }
  } as never
  assert.is((await db.find({ n: 1 }, options).toArray()).length, 43)
  assert.is((await db.findOne({ n: 1 }, options))?._id, 1)
  assert.is((await db.aggregate([{ $match: { n: 1 } }], options).toArray()).length, 43)
  assert.is((await db.insertMany([], options)).insertedCount, 0)
  assert.is((await db.updateMany({ n: 8 }, set, options)).matchedCount, 0)
  assert.is((await db.deleteMany({ n: 8 }, options)).deletedCount, 0)
  assert.is(
    (await db.bulkWrite([{ deleteOne: { filter: { n: 8 }, ...(options as object) } }], options)).deletedCount,
    0
  )
  assert.is(await db.createIndex('n', options), 'n_1')
  await db.watch([], options).close()
  const { message } = await rejects(db.updateOne({}, set, { session: {} } as never), 'BadValue')
  assert.is(message, "updateOne has no option 'session'; there are no sessions, but db.withTransaction()")
})

test('calls without options of their own refuse callbacks and options, except those of the driver', async () => {
  const calls: Readonly<Record<string, (options: never) => Promise<unknown>>> = {
    insertOne: (options) => db.insertOne({ _id: 1000 }, options),
    estimatedDocumentCount: (options) => db.estimatedDocumentCount(options)
  }
  for (const [name, call] of Object.entries(calls)) {
    for (const [options, shown] of notOptions) {
      const { message } = await rejects(call(options as never), 'BadValue')
      assert.is(message, `${name} takes options as an object, got ${shown}`)
    }
    const { message } = await rejects(call({ sync: true } as never), 'BadValue')
    assert.is(message, `${name} has no option 'sync'`)
    await call({ comment: 'why', session: null, writeConcern: { w: 1 } } as never)
  }
  await db.deleteOne({ _id: 1000 })
})

test('undefined stands for no options', async () => {
  assert.is((await db.find({ n: 1 }, undefined).toArray()).length, 43)
  assert.is((await db.findOne({ n: 1 }, undefined))?._id, 1)
  assert.is(await db.countDocuments({ n: 1 }, undefined), 43)
  assert.equal(await db.distinct('n', { n: 1 }, undefined), [1])
  assert.is((await db.deleteMany({ n: 8 }, undefined)).deletedCount, 0)
  assert.is(await db.findOneAndUpdate({ n: 8 }, set, undefined), null)
  assert.equal((await db.verify(undefined)).problems, [])
  assert.is((await db.index.rebuild(undefined)).documents, 300)
})

test('a cursor with invalid options fails however it is used, even after changes', async () => {
  const asks: readonly (() => Promise<unknown>)[] = [
    () => db.find({}, null as never).next(),
    () => db.find({}, null as never).count(),
    () => db.find({}, null as never).explain(),
    () =>
      db
        .find({}, null as never)
        .sort({ n: 1 })
        .limit(1)
        .toArray(),
    () =>
      db
        .find({}, null as never)
        .clone()
        .toArray(),
    () => db.find({}, null as never).forEach(() => {})
  ]
  for (const ask of asks) {
    assert.is((await rejects(ask(), 'BadValue')).message, 'find takes options as an object, got null')
  }
})

const noFilters = [5, 'text', true, [], [{}], () => true, Symbol('s'), 5n]

test('a filter that is not an object is refused by every call', async () => {
  const calls: readonly ((filter: never) => Promise<unknown>)[] = [
    (filter) => db.find(filter).toArray(),
    (filter) => db.find(filter).count(),
    (filter) => db.find(filter).explain(),
    (filter) => db.findOne(filter),
    (filter) => db.countDocuments(filter),
    (filter) => db.distinct('n', filter),
    (filter) => db.updateOne(filter, set),
    (filter) => db.updateMany(filter, set),
    (filter) => db.replaceOne(filter, { changed: true }),
    (filter) => db.deleteOne(filter),
    (filter) => db.deleteMany(filter),
    (filter) => db.findOneAndUpdate(filter, set),
    (filter) => db.findOneAndReplace(filter, { changed: true }),
    (filter) => db.findOneAndDelete(filter)
  ]
  for (const filter of noFilters) for (const call of calls) await rejects(call(filter as never), 'TypeMismatch')
  // A read without a filter reads everything; a write without one is refused.
  for (const call of calls.slice(6)) await rejects(call(null as never), 'BadValue')
})

/** Calls with arguments of wrong types. */
const refused: readonly (readonly [string, ErrorName, (value: never) => unknown, readonly unknown[]])[] = [
  ['an update', 'TypeMismatch', (spec) => db.updateOne({}, spec), [null, 5, 'text', () => 1]],
  ['an update of no operators', 'BadValue', (spec) => db.updateMany({}, spec), [{}, { n: 1 }]],
  ['a document', 'BadValue', (document) => db.insertOne(document), [null, 5, 'text', [], () => 1]],
  ['documents', 'BadValue', (list) => db.insertMany(list), [null, 5, 'text', {}, [null], [5], [[]]]],
  ['a replacement', 'TypeMismatch', (document) => db.replaceOne({}, document), [null, 5, 'text', () => 1]],
  ['operations', 'BadValue', (list) => db.bulkWrite(list), [null, 5, 'text', {}, [null], [5], [{}]]],
  ['lines', 'BadValue', (source) => db.importLines(source), [null, 5, '{}\n', {}, [5], [null]]],
  ['ids', 'BadValue', (ids) => db.getMany(ids), [null, 5, 'text', {}]],
  ['a path', 'BadValue', (path) => db.distinct(path), [null, 5, {}, [], '', '$n']],
  ['fields', 'BadValue', (fields) => db.createIndex(fields), [null, 5, true, {}, [], [5]]],
  ['a name', 'InvalidNamespace', (name) => db.collection(name), [null, 5, {}, '']],
  ['a name to drop', 'InvalidNamespace', (name) => db.dropCollection(name), [null, 5, {}, '']],
  ['a directory', 'BadValue', (location) => db.backup(location), [null, 5, {}, '']],
  ['a location', 'BadValue', (location) => open(location), [null, 5, {}, '']],
  ['a callback', 'BadValue', (callback) => db.find().map(callback), [null, 5, 'text', {}]],
  ['a callback for each', 'BadValue', (callback) => db.find().forEach(callback), [null, 5, 'text', {}]],
  ['ordered', 'BadValue', (ordered) => db.insertMany([{}], { ordered }), [5, 'no', {}]],
  ['ordered', 'BadValue', (ordered) => db.bulkWrite([], { ordered }), [5, 'no', {}]],
  ['strict', 'BadValue', (strict) => db.importLines([Buffer.from('{}\n')], { strict }), [5, 'no', {}]],
  ['upsert', 'BadValue', (upsert) => db.updateOne({ n: 8 }, set, { upsert }), [5, 'yes', {}]],
  ['upsert', 'BadValue', (upsert) => db.findOneAndReplace({ n: 8 }, { changed: true }, { upsert }), [5, 'yes', {}]],
  ['returnDocument', 'BadValue', (which) => db.findOneAndUpdate({}, set, { returnDocument: which }), [5, 'new', {}]],
  ['limit', 'BadValue', (limit) => db.find({}, { limit }).toArray(), ['5', 1.5, {}, Number.NaN]],
  ['skip', 'BadValue', (skip) => db.find({}, { skip }).toArray(), ['5', -1, {}, Number.NaN]],
  ['maxTimeMS', 'BadValue', (maxTimeMS) => db.countDocuments({}, { maxTimeMS }), ['5', -1, {}, Number.NaN]],
  ['hint', 'BadValue', (hint) => db.find({}, { hint }).toArray(), [null, 5, true, () => 1]],
  ['lsm', 'InvalidOptions', (lsm) => open(scratchPath(), { lsm }), [null, 5, 'text', []]],
  ['index', 'InvalidOptions', (index) => open(scratchPath(), { index }), [5, true, 'text', []]],
  ['autoRebuild', 'InvalidOptions', (autoRebuild) => open(scratchPath(), { autoRebuild }), [null, 5, 'text', []]],
  ['dryRun', 'BadValue', (dryRun) => db.index.tune({ dryRun }), [5, 'yes', {}, []]],
  ['queries', 'InvalidOptions', (queries) => db.index.tune({ queries, dryRun: true }), [5, true, 'text', {}]]
]

for (const [name, codeName, call, values] of refused) {
  test(`a wrong value for ${name} is refused with ${codeName}`, async () => {
    for (const value of values)
      await rejects(
        attempt(() => call(value as never)),
        codeName
      )
  })
}

test('distinct() shows what it was given as a path', async () => {
  for (const [path, shown] of [
    ['$n', "'$n'"],
    [null, 'null'],
    [['n'], 'array'],
    [new Date(0), 'Date']
  ]) {
    const { message } = await rejects(db.distinct(path as never), 'BadValue')
    assert.is(message, `distinct takes a path that does not begin with '$', got ${shown}`)
  }
})

test('what is not a document is named with its place in the list', async () => {
  await using other = await open('unused', { store: 'memory' })
  for (const [wrong, shown] of [
    [null, 'null'],
    ['text', 'string'],
    [[], 'array']
  ] as const) {
    const refused = other.insertMany([{ n: 1 }, { n: 2 }, wrong as never, { n: 3 }])
    const { message, details } = await rejects(refused, 'BadValue')
    assert.is(message, `Expected a document to be an object, got ${shown}, at 2`)
    assert.equal(details, { position: 2 })
  }
  assert.is(await other.countDocuments(), 6)
  assert.is(
    (await rejects(other.bulkWrite([{ deleteMany: { filter: {} } }, null as never]), 'BadValue')).message,
    'bulkWrite takes operations such as { insertOne: { document } }, got null, at 1'
  )
})

test('an operation of bulkWrite() with two names is refused as ambiguous', async () => {
  const two = { insertOne: { document: { _id: 1000 } }, deleteOne: { filter: { _id: 1 } } }
  const { message } = await rejects(db.bulkWrite([{ deleteOne: { filter: { _id: 2 } } }, two]), 'BadValue')
  assert.is(message, "bulkWrite takes one operation at a time, got 'insertOne' and 'deleteOne', at 1")
})

test('an update without operators is refused before any operation of bulkWrite() runs', async () => {
  for (const update of [{ n: 1 }, {}, { $set: { n: 1 }, m: 1 }, 'n']) {
    const operations = [
      { insertOne: { document: { _id: 1001 } } },
      { updateOne: { filter: {}, update: update as never } }
    ]
    const { message } = await rejects(db.bulkWrite(operations), 'BadValue')
    assert.is(message, 'updateOne of bulkWrite needs update operators or a pipeline, at 1')
  }
  assert.not(await db.get(1001))
})

test('ordered: null means ordered: nothing is written after a refused document', async () => {
  const ordered = null as never
  const operations = [{ insertOne: { document: { _id: 1 } } }, { insertOne: { document: { _id: 1000 } } }]
  await rejects(db.bulkWrite(operations, { ordered }), 'DuplicateKey')
  await rejects(db.insertMany([{ _id: 1 }, { _id: 1000 }], { ordered }), 'DuplicateKey')
  assert.is(await db.countDocuments({ _id: 1000 }), 0)
})

test('an invalid `let` is refused even if no expression uses it', async () => {
  for (const wrong of [5, [], { Name: 1 }]) {
    const options = { let: wrong as never }
    for (const call of [
      () => db.find({}, options).toArray(),
      () => db.findOne({ n: 1 }, options),
      () => db.countDocuments({}, options),
      () => db.distinct('n', {}, options),
      () => db.updateOne({ n: 1 }, set, options),
      () => db.deleteMany({ n: 1 }, options),
      () => db.findOneAndDelete({ n: 1 }, options)
    ]) {
      assert.equal((await rejects(attempt(call), 'BadValue')).details, { option: 'let' })
    }
  }
})

test('open() refuses its options before it creates a directory', async () => {
  for (const options of [null, { lsm: 5 }, { index: [] }, { signal: {} }]) {
    const location = scratchPath()
    await attempt(() => open(location, options as never)).then(
      () => assert.unreachable(),
      () => undefined
    )
    assert.not.ok(existsSync(location))
  }
})

test.run()
