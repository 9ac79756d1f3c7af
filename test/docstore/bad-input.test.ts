/** Input that cannot be stored is refused with a typed error, and leaves nothing behind. */
import { runInNewContext } from 'node:vm'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { copyDatabase, type Database, type Document, type ErrorName, open, PetalError } from '../../src/index.ts'
import { rejects } from './scratch.ts'

let db: Database

test.before.each(async () => {
  db = await open('unused', { store: 'memory' })
})

test.after.each(async () => {
  assert.is(await db.countDocuments({}, { hint: 'scan' }), 0, 'nothing was stored')
  await db.insertOne({ _id: 'still works' })
  assert.is(await db.countDocuments(), 1)
  await db.close()
})

const cyclic: Document = { a: { b: [] } }
;(cyclic.a as { b: unknown[] }).b.push(cyclic)

let deep: Document = {}
for (let i = 0; i < 200; i++) deep = { deep }

function* list(): Generator<number> {
  yield 1
}

const refused: readonly (readonly [string, unknown, ErrorName])[] = [
  ['a cycle', cyclic, 'BadValue'],
  ['nesting beyond 100 levels', deep, 'BadValue'],
  ['a __proto__ key', JSON.parse('{"a":{"__proto__":{"polluted":true}}}'), 'BadValue'],
  ['a function', { a: () => 1 }, 'BadValue'],
  ['a symbol', { a: Symbol('s') }, 'BadValue'],
  ['a Map', { a: new Map([[1, 2]]) }, 'BadValue'],
  ['a Promise', { a: Promise.resolve() }, 'BadValue'],
  ['a URL, which has no key of its own,', { a: [{ link: new URL('http://example.org') }] }, 'BadValue'],
  ['a generator', { a: list() }, 'BadValue'],
  ['an iterator', { a: [1].values() }, 'BadValue'],
  ['shared memory', { a: new SharedArrayBuffer(1) }, 'BadValue'],
  ['a Map of another realm', { a: runInNewContext('new Map([[1, 2]])') }, 'BadValue'],
  ['a generator in place of a document', list(), 'BadValue'],
  ['an array in place of a document', [{ a: 1 }], 'BadValue'],
  ['null in place of a document', null, 'BadValue'],
  ['text in place of a document', 'text', 'BadValue'],
  ['an array as _id', { _id: [1] }, 'BadValue'],
  ['a regular expression as _id', { _id: /x/ }, 'BadValue'],
  ['an _id with operators', { _id: { $gt: 1 } }, 'DollarPrefixedFieldName'],
  ['an _id above 1 MiB', { _id: 'x'.repeat(2 ** 20 + 1) }, 'BadValue'],
  ['17 MiB of text', { text: 'x'.repeat(17 * 2 ** 20) }, 'DocumentTooLarge'],
  ['6 million characters of 3 bytes each', { text: '\u20ac'.repeat(6_000_000) }, 'DocumentTooLarge']
]

for (const [what, document, codeName] of refused) {
  test(`${what} is refused with ${codeName}`, async () => {
    await rejects(db.insertOne(document as Document), codeName)
    await rejects(db.insertMany([document as Document]), codeName)
  })
}

test('the error names the class of the value that cannot be stored, if it has a name', async () => {
  const named: readonly (readonly [object, string])[] = [
    [new URL('http://example.org'), 'URL'],
    [new Map(), 'Map'],
    [list(), 'Generator'],
    [Object.create({ [Symbol.toStringTag]: 'Tagged' }), 'Tagged'],
    [Object.create(Object.create(null, { _bsontype: { value: 'Nothing' } })), 'Object']
  ]
  for (const [value, name] of named) {
    const { message, details } = await rejects(db.insertOne({ a: [value] }), 'BadValue')
    assert.is(message, `A value of type ${name} cannot be stored (at 'a')`)
    assert.is(details.path, 'a')
    const update = await rejects(db.updateOne({}, { $set: { a: value } }, { upsert: true }), 'BadValue')
    assert.match(update.message, `a value of type ${name} cannot be stored`)
  }
})

test('the error names the path of a value that is too long for a key, and its type', async () => {
  const long = 'x'.repeat(2 ** 20)
  const at = (path: string, type: string): string =>
    `A key may have at most 1048576 bytes; the ${type} at '${path}' needs more`
  assert.is((await rejects(db.insertOne({ _id: long }), 'BadValue')).message, at('_id', 'string'))
  await db.insertOne({ _id: 1, n: { text: 'x' } })
  await db.createIndex({ m: 1, 'n.text': -1 })
  const updated = db.updateOne({ _id: 1 }, { $set: { 'n.text': [long] } })
  const { message, details } = await rejects(updated, 'BadValue')
  assert.is(message, at('n.text', 'string'))
  assert.equal(details, { path: 'n.text', type: 'string' })
  await db.updateOne({ _id: 1 }, { $set: { object: { long } } })
  assert.is((await rejects(db.createIndex('object'), 'BadValue')).message, at('object', 'object'))
  await db.deleteMany({})
})

test("instances of the caller's own classes are stored by their keys, even with a toStringTag", async () => {
  class Point {
    x = 1
    get [Symbol.toStringTag](): string {
      return 'Point'
    }
  }
  class Nothing {}
  await db.insertOne({ _id: 'own', point: new Point(), nothing: new Nothing() })
  assert.equal(await db.get('own'), { _id: 'own', point: { x: 1 }, nothing: {} })
  await db.deleteMany({})
})

test('a Date of another realm is a date everywhere, and an object that only claims to be one is not', async () => {
  const date = (time: number): Date => runInNewContext(`new Date(${time})`)
  await db.createIndex({ at: 1 })
  await db.insertMany([{ _id: date(1), at: date(5), in: [{ at: date(6) }] }])
  await db.updateOne({ _id: date(1) }, { $set: { set: date(7) }, $push: { list: date(8) }, $max: { max: date(9) } })
  await db.updateOne({ at: date(5) }, [{ $set: { piped: { $add: [date(10), 1] } } }])
  const expected = {
    _id: new Date(1),
    at: new Date(5),
    in: [{ at: new Date(6) }],
    set: new Date(7),
    list: [new Date(8)],
    max: new Date(9),
    piped: new Date(11)
  }
  assert.equal(await db.find().toArray(), [expected])
  assert.equal(await db.get(date(1)), expected)
  const filters = [{ at: date(5) }, { at: { $gt: date(4) } }, { 'in.at': { $in: [date(6)] } }, { list: date(8) }]
  for (const filter of filters) {
    for (const hint of ['scan', 'index', 'at_1']) assert.is(await db.countDocuments(filter, { hint }), 1)
  }
  const stages = [{ $match: { $expr: { $lt: ['$at', date(6)] } } }, { $set: { at: { $subtract: ['$at', date(2)] } } }]
  assert.is((await db.aggregate(stages).next())?.at, 3)
  await db.replaceOne({ at: date(5) }, { at: date(12) })
  assert.equal(await db.findOne(), { _id: new Date(1), at: new Date(12) })
  const claimed = Object.create({ [Symbol.toStringTag]: 'Date', getTime: () => 5 })
  await rejects(db.insertOne({ at: claimed }), 'BadValue')
  await db.deleteMany({})
})

test('a RegExp of another realm is a regular expression, in documents and in filters', async () => {
  const pattern: RegExp = runInNewContext('/^Ab/i')
  await db.insertMany([
    { _id: 1, pattern },
    { _id: 2, text: 'abc' }
  ])
  assert.equal(await db.get(1), { _id: 1, pattern: /^Ab/i })
  for (const hint of ['scan', 'index']) {
    const ids = async (filter: object): Promise<unknown[]> => await db.distinct('_id', filter, { hint })
    assert.equal(await ids({ pattern }), [1])
    assert.equal(await ids({ text: pattern }), [2])
    assert.equal(await ids({ text: { $regex: pattern } }), [2])
    assert.equal(await ids({ text: { $not: pattern } }), [1])
    assert.equal(await ids({ $expr: { $regexMatch: { input: '$text', regex: pattern } } }), [2])
  }
  const plan = await db.find({ text: pattern }).explain()
  assert.ok(JSON.stringify(plan).includes('/^Ab/i'))
  await db.deleteMany({})
})

test('a __proto__ key pollutes nothing', async () => {
  const hostile = JSON.parse('{"_id":1,"__proto__":{"polluted":true}}')
  await rejects(db.insertOne(hostile), 'BadValue')
  await rejects(db.find(JSON.parse('{"__proto__":{"a":1}}')).toArray(), 'BadValue')
  await rejects(
    db.updateOne({ _id: 1 }, JSON.parse('{"$set":{"__proto__.polluted":true}}'), { upsert: true }),
    'BadValue'
  )
  await rejects(db.updateOne(JSON.parse('{"a.__proto__.b":1}'), { $set: { c: 1 } }, { upsert: true }), 'BadValue')
  assert.is(({} as { polluted?: unknown }).polluted, undefined)
})

test('an unordered insertMany() stores everything that can be stored', async () => {
  const documents = [{ _id: 1 }, { _id: 2, bad: cyclic }, { _id: 3 }, { _id: 2, good: true }]
  const error = await rejects(db.insertMany(documents, { ordered: false }), 'BadValue')
  assert.equal((error as unknown as { insertedIds: unknown }).insertedIds, { 0: 1, 2: 3, 3: 2 })
  assert.equal(await db.get(2), { _id: 2, good: true })
  await db.deleteMany({})
})

test("only the document whose getter throws is refused, with the getter's error as cause", async () => {
  const mine = new RangeError('mine')
  const throwing = {
    _id: 2,
    get bad() {
      throw mine
    }
  }
  const error = await rejects(db.insertMany([{ _id: 1 }, throwing, { _id: 3 }], { ordered: false }), 'BadValue')
  assert.equal((error as unknown as { insertedIds: unknown }).insertedIds, { 0: 1, 2: 3 })
  const together = [{ _id: 4 }, throwing, { _id: 5 }].map((document) => db.insertOne(document))
  const outcomes = await Promise.allSettled(together)
  assert.equal(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled']
  )
  assert.is((await rejects(together[1] as Promise<unknown>, 'BadValue')).cause, mine)
  assert.is(await db.countDocuments(), 4)
  assert.is(await db.countDocuments({}, { hint: 'scan' }), 4)
  await db.deleteMany({})
})

test('an update whose result cannot be stored changes nothing', async () => {
  await db.insertOne({ _id: 1, text: 'x'.repeat(9 * 2 ** 20) })
  const growing = { $set: { more: 'y'.repeat(9 * 2 ** 20) } }
  await rejects(db.updateOne({ _id: 1 }, growing), 'DocumentTooLarge')
  await rejects(db.updateMany({}, { $set: { a: () => 1 } }), 'BadValue')
  assert.equal(Object.keys((await db.get(1)) ?? {}), ['_id', 'text'])
  await db.deleteMany({})
})

test('an update with a value that contains itself says so', async () => {
  await db.insertOne({ _id: 1, list: [] })
  const calls = [
    () => db.updateOne({ _id: 1 }, { $set: { cyclic } }),
    () => db.updateOne({ _id: 1 }, { $push: { list: cyclic } }),
    () => db.updateOne({ _id: 1 }, { $addToSet: { list: cyclic } }),
    () => db.replaceOne({ _id: 1 }, cyclic)
  ]
  for (const call of calls) assert.match((await rejects(call(), 'BadValue')).message, /contains itself/)
  await db.deleteMany({})
})

test('an update that fails midway keeps its earlier changes', async () => {
  await db.insertMany([
    { _id: 1, n: 1 },
    { _id: 2, n: 2 },
    { _id: 3, n: 'three' },
    { _id: 4, n: 4 }
  ])
  await rejects(db.updateMany({}, { $inc: { n: 10 } }), 'TypeMismatch')
  assert.equal(
    (await db.find().sort({ _id: 1 }).toArray()).map(({ n }) => n),
    [11, 12, 'three', 4]
  )
  assert.is(await db.countDocuments({ n: 12 }), 1)
  await db.deleteMany({})
})

test('insertMany() refuses anything but a list of documents', async () => {
  await rejects(db.insertMany(5 as unknown as Document[]), 'BadValue')
  await rejects(db.insertMany({ _id: 1 } as unknown as Document[]), 'BadValue')
})

test('an error or a non-document from its source ends insertMany(); earlier documents are stored', async () => {
  async function* later() {
    yield { _id: 1 }
    throw new RangeError('mine')
  }
  const thrown = await db.insertMany(later()).catch((error: unknown) => error)
  assert.instance(thrown, RangeError)
  await rejects(db.insertMany([{ _id: 2 }, 5 as unknown as Document, { _id: 3 }]), 'BadValue')
  // The first error is reported.
  await rejects(db.insertMany([{ _id: 4 }, { _id: 1 }, 'x' as unknown as Document]), 'BadValue')
  assert.equal(await db.find().sort({ _id: 1 }).toArray(), [{ _id: 1 }, { _id: 2 }, { _id: 4 }])
  await db.deleteMany({})
})

test('paths deeper than any document can be are refused everywhere before they are followed', async () => {
  const path = Array.from({ length: 100_000 }, () => 'a').join('.')
  const projection: Document = {}
  projection.a = projection
  await rejects(db.find({ [path]: 1 }).toArray(), 'BadValue')
  await rejects(db.find({}, { sort: { [path]: 1 } }).toArray(), 'BadValue')
  await rejects(db.find({}, { projection: { [path]: 1 } }).toArray(), 'BadValue')
  await rejects(db.find({}, { projection }).toArray(), 'BadValue')
  await rejects(db.distinct(path), 'BadValue')
  await rejects(db.createIndex({ [path]: 1 }), 'BadValue')
  await rejects(db.updateOne({}, { $set: { [path]: 1 } }, { upsert: true }), 'BadValue')
  await rejects(db.updateOne({ [path]: 1 }, { $set: { a: 1 } }, { upsert: true }), 'BadValue')
})

test('projections and stages that contain themselves are refused', async () => {
  const itself: Document = { x: '$a' }
  itself.a = itself
  await rejects(db.find({}, { projection: itself }).toArray(), 'BadValue')
  await rejects(db.find({ $expr: true }, { let: itself }).toArray(), 'BadValue')
  const stages: Document[] = [{ $project: itself }, { $set: itself }, { $facet: { a: [{ $project: itself }] } }]
  for (const stage of [...stages, { $documents: [itself] }]) {
    await rejects(db.aggregate([stage]).toArray(), 'BadValue')
    await rejects(db.updateOne({}, [stage]), 'BadValue')
  }
  await rejects(db.aggregate([{ $match: itself }]).toArray(), 'BadValue')
  // An update refuses this stage without looking into it.
  await rejects(db.updateOne({}, [{ $match: itself }]), 'InvalidOptions')
})

test('arguments of a wrong type are refused', async () => {
  for (const wrong of [undefined, null, 5, 'x', {}]) {
    await rejects(db.getMany(wrong as never), 'BadValue')
    await rejects(db.importLines([wrong as never]), 'BadValue')
    await rejects(copyDatabase(wrong as never, db), 'BadValue')
    if (wrong !== 'x') await rejects(copyDatabase(db, wrong as never), 'BadValue')
  }
})

test('a promise that nobody awaited is called a promise, whatever it stands for', async () => {
  const promise = Promise.resolve([]) as never
  const calls: readonly (() => unknown)[] = [
    () => db.insertOne(promise),
    () => db.insertOne({ _id: promise }),
    () => db.insertMany(promise),
    () => db.insertMany([promise]),
    () => db.importLines(promise),
    () => db.bulkWrite(promise),
    () => db.bulkWrite([{ insertOne: promise }]),
    () => db.bulkWrite([{ deleteOne: { filter: promise } }]),
    () => db.updateOne({}, promise),
    () => db.replaceOne({}, promise),
    () => db.find(promise).toArray(),
    () => db.find().sort(promise).toArray(),
    () => db.find().project(promise).toArray(),
    () => db.get(promise),
    () => db.getMany(promise),
    () => db.aggregate(promise).toArray(),
    () => db.createIndex(promise),
    () => db.watch(promise),
    () => db.collection(promise)
  ]
  for (const call of calls) {
    const error = await (async () => call())().then(
      () => undefined,
      (reason: unknown) => reason
    )
    assert.instance(error, PetalError, String(call))
    assert.match((error as PetalError).message, /\bPromise\b/, String(call))
  }
})

test('errors about easily confused arguments say what was expected', async () => {
  const said: readonly (readonly [call: () => Promise<unknown>, RegExp])[] = [
    [() => db.get(undefined), /^get takes an _id, got undefined$/],
    [() => db.getMany([1, undefined]), /^getMany takes _ids, got undefined at 1$/],
    [() => db.importLines(5 as never), /takes the path of a file, or an iterable of bytes, got number$/],
    [() => db.importLines('{}\n'), /takes the path of a file; for lines use \[Buffer\.from\(lines\)\]$/],
    [
      () => db.importLines(['{}\n'] as never),
      /got string; use createReadStream\(path\) without an encoding, or Buffer\.from\(text\)$/
    ],
    [() => db.importLines([5] as never), /got number$/],
    [() => db.importLines(Buffer.from('{}\n') as never), /for a single one use \[bytes\]$/]
  ]
  for (const [call, message] of said) assert.match((await rejects(call(), 'BadValue')).message, message)
})

test('collection names are checked as MongoDB checks them', async () => {
  for (const name of ['', 'a$b', 'a\0b', '.a', 'a.', 'x'.repeat(256), '\u20ac'.repeat(86), 5]) {
    assert.throws(
      () => db.collection(name as string),
      (error: { codeName?: string }) => error.codeName === 'InvalidNamespace'
    )
  }
  await db.collection('a.b c-ü').insertOne({ _id: 1 })
  assert.is(await db.dropCollection('a.b c-ü'), true)
})

test('a collection name with a lone surrogate is refused: on disk it would equal another name', async () => {
  for (const name of ['\ud800', 'a\udfff', '\udc00\ud800']) {
    assert.throws(
      () => db.collection(name),
      (error: { codeName?: string }) => error.codeName === 'InvalidNamespace'
    )
    await rejects(db.dropCollection(name), 'InvalidNamespace')
    await rejects(db.aggregate([{ $out: name }]).toArray(), 'InvalidNamespace')
  }
  for (const name of ['\ufffd', '\u{1f338}']) {
    await db.collection(name).insertOne({ _id: 1 })
    assert.is(await db.dropCollection(name), true)
  }
})

test('an invalid operation makes bulkWrite() fail before any operation runs', async () => {
  for (const wrong of [
    null,
    {},
    'x',
    { insertTwo: {} },
    { updateOne: null },
    { insertOne: undefined },
    { deleteMany: {} }
  ]) {
    const operations = [{ insertOne: { document: { _id: 1 } } }, wrong as never]
    await rejects(db.bulkWrite(operations, { ordered: false }), 'BadValue')
  }
})

test('a write without a filter is refused: an undefined variable must not change every document', async () => {
  await db.insertOne({ _id: 1 })
  const filter = undefined as unknown as Document
  const nothing = null as unknown as Document
  await rejects(db.deleteMany(filter), 'BadValue')
  await rejects(db.deleteMany(nothing), 'BadValue')
  await rejects(db.deleteOne(filter), 'BadValue')
  await rejects(db.updateMany(filter, { $set: { a: 1 } }), 'BadValue')
  await rejects(db.replaceOne(filter, { a: 1 }), 'BadValue')
  await rejects(db.findOneAndDelete(filter), 'BadValue')
  assert.equal(await db.find().toArray(), [{ _id: 1 }])
  assert.is((await db.deleteMany({})).deletedCount, 1)
})

test('malformed writes are refused before anything is read', async () => {
  // @ts-expect-error: no operator
  await rejects(db.updateOne({}, { a: 1 }), 'BadValue')
  await rejects(db.deleteMany({ $bad: 1 }), 'BadValue')
  await rejects(db.updateMany({ a: undefined }, { $set: { b: 1 } }), 'BadValue')
  await rejects(db.bulkWrite([{ insertTwo: {} } as never]), 'BadValue')
  await rejects(db.distinct('$a'), 'BadValue')
})

test.run()
