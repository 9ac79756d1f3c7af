import { ObjectId } from 'bson'
import fc from 'fast-check'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AbortedError, type BadLine, type Database, open, PetalError } from '../../src/index.ts'
import { parseJson } from '../../src/model/extended-json.ts'
import type { Document } from '../../src/model/types.ts'
import { seedOfRun } from '../support/values.ts'
import { rejects } from './scratch.ts'

const seed = seedOfRun()

const text = fc.constantFrom('', 'a', 'é', '日本', '\u0001', '"', '\\', '\ud83d\ude00', '$x', 'x'.repeat(40), '2024')
const key = fc.constantFrom('a', 'b', 'c', 'long_key', 'k"', 'é', '0', '_id', '__proto__', '$date', 'a.b', '')
/** Values as JSON texts, including some that no program would write. */
const scalar = fc.oneof(
  text.map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '0',
    '-0',
    '1.0',
    '1e2',
    '1e400',
    '-1e-7',
    '9007199254740993',
    '9007199254740991',
    '12345678901234567890',
    '0.1',
    '1E+2'
  ),
  fc.constantFrom('null', 'true', 'false', '"\\u0041"', '"\\ud800"', '"\\/"', '{"$numberLong":"5"}', '{"$date":"x"}'),
  fc.integer().map(String)
)
const space = fc.constantFrom('', '', '', ' ', '\t', '  ')
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.tuple(fc.array(tie('value'), { maxLength: 3 }), space).map(([items, s]) => `[${s}${items.join(`,${s}`)}]`),
    fc
      .tuple(fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }), space)
      .map(([fields, s]) => `{${fields.map(([k, v]) => `${s}${JSON.stringify(k)}${s}:${s}${v}`).join(',')}}`)
  )
}))
const line = fc
  .tuple(fc.option(scalar, { freq: 10 }), fc.array(fc.tuple(key, value), { maxLength: 5 }), space)
  .map(([id, fields, s]) => {
    const all = id === null ? fields : [['_id', id] as const, ...fields]
    const spell = (k: string): string => (k === 'c' ? '"\\u0063"' : JSON.stringify(k))
    return `{${all.map(([k, v]) => `${spell(k)}${k === '_id' ? '' : s}:${s}${v}`).join(`,${s}`)}}`
  })

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Inserts each line as a parsed object. @returns the numbers of the lines that are refused */
async function byObjects(db: Database, lines: readonly string[]): Promise<number[]> {
  const refused: number[] = []
  for (const [i, source] of lines.entries()) {
    try {
      await db.insertOne(parseJson(source) as Document)
    } catch (error) {
      if (!(error instanceof PetalError)) throw error
      refused.push(i + 1)
    }
  }
  return refused
}

/** Generated ids differ from run to run. */
function comparable(documents: readonly Document[]): unknown[] {
  return documents.map(({ _id, ...rest }) => [typeof _id === 'object' ? 'generated' : _id, rest])
}

test('a line becomes the document that parsing it gives, and is found by the same filters', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 30 }), fc.integer({ min: 1, max: 70 }), async (lines, size) => {
      // Two ids in one line: parsing keeps the last one, an import refuses the line.
      const kept = lines.filter((source) => source.split('"_id":').length <= 2)
      await using imported = await open('x', { store: 'memory' })
      await using inserted = await open('y', { store: 'memory' })
      const skipped: number[] = []
      const bytes = new TextEncoder().encode(`${kept.join('\n')}\n`)
      await imported.importLines(inPieces(bytes, size), { onSkipped: (bad: BadLine) => skipped.push(bad.line) })
      const refused = await byObjects(inserted, kept)
      assert.equal(skipped.sort(byNumber), refused)
      const [left, right] = await Promise.all([imported.find({}).toArray(), inserted.find({}).toArray()])
      assert.equal(comparable(left), comparable(right))
      for (const filter of questions(right)) {
        const expected = comparable(await inserted.find(filter, { hint: 'scan' }).toArray())
        assert.equal(comparable(await imported.find(filter).toArray()), expected)
        assert.equal(comparable(await imported.find(filter, { hint: 'scan' }).toArray()), expected)
      }
    }),
    { seed, numRuns: 120 }
  )
})

function questions(documents: readonly Document[]): Document[] {
  return documents
    .slice(0, 8)
    .flatMap((document) => Object.entries(document))
    .filter(([path, operand]) => path !== '_id' || typeof operand !== 'object')
    .filter(([path]) => !path.startsWith('$') && !path.includes('.') && path !== '')
    .flatMap(([path, operand]) => conditions(operand).map((condition) => ({ [path]: condition })))
}

/** Some that the index answers, and some that are matched against stored text. */
function conditions(operand: unknown): Document[] {
  const list: Document[] = [{ $eq: operand }, { $ne: operand }, { $gte: operand }]
  // An $in list must not contain operators.
  if (typeof operand !== 'object' || operand === null) list.push({ $in: [operand, 'none'] })
  if (typeof operand === 'string') list.push({ $regex: operand.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') })
  if (typeof operand === 'number' && Number.isSafeInteger(operand)) list.push({ $mod: [7, operand % 7] })
  if (typeof operand === 'object' && operand !== null && !Array.isArray(operand)) list.push({ $exists: true })
  return list
}

const byNumber = (a: number, b: number): number => a - b

test('a line with two ids is refused', async () => {
  await using db = await open('x', { store: 'memory' })
  const bad: BadLine[] = []
  const { insertedCount, skippedCount } = await db.importLines(
    [new TextEncoder().encode('{"_id":1,"a":1}\n{"_id":2,"_id":3}\n')],
    { onSkipped: (line) => bad.push(line) }
  )
  assert.equal([insertedCount, skippedCount, bad.map(({ line }) => line)], [1, 1, [2]])
})

test('skipped lines are reported in their order, also when none of a batch can be read', async () => {
  await using db = await open('x', { store: 'memory' })
  const lines = Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? '{' : `{"_id":${i % 3 === 1 ? 1 : i}}`))
  const wanted = [...lines.keys()].filter((i) => i % 3 === 0 || (i % 3 === 1 && i > 1)).map((i) => i + 1)
  for (const batch of [1, 2, 7, 100]) {
    const skipped: number[] = []
    const { skippedCount } = await db.collection(`of ${batch}`).importLines([Buffer.from(lines.join('\n'))], {
      batch,
      onSkipped: ({ line }) => skipped.push(line)
    })
    assert.equal(skipped, wanted)
    assert.is(skippedCount, wanted.length)
  }
  const { skippedCount } = await db.importLines([Buffer.from('{\n'.repeat(5))], { batch: 2 })
  assert.is(skippedCount, 5)
})

test('a skipped line is reported with the error code of its refusal', async () => {
  await using db = await open('x', { store: 'memory' })
  await db.createIndex({ email: 1 }, { unique: true, sparse: true })
  const lines = ['{"_id":1,"email":"a"}', '{"_id":1}', '{"_id":2,"email":"a"}', '{"_id":', '[]', '{"_id":[1]}']
  const bad: BadLine[] = []
  await db.importLines([Buffer.from(lines.join('\n'))], { onSkipped: (line) => bad.push(line) })
  assert.equal(
    bad.map(({ line, codeName, code }) => [line, codeName, code]),
    [
      [2, 'DuplicateKey', 11000],
      [3, 'DuplicateKey', 11000],
      [4, 'FailedToParse', 9],
      [5, 'FailedToParse', 9],
      [6, 'BadValue', 2]
    ]
  )
  const [twice] = bad.filter(({ line }) => line === 3)
  assert.equal(twice?.details, {
    line: 3,
    index: 'email_1',
    keyPattern: { email: 1 },
    keyValue: { email: 'a' }
  })
  const strict = db.importLines([Buffer.from('{"_id":1}\n')], { strict: true })
  assert.is(((await rejects(strict, 'DuplicateKey')) as BadLine).line, 1)
})

test('two ids are refused in every spelling, even if equal, and whatever else the line contains', async () => {
  const hex = '65a1b2c3d4e5f60718293a4b'
  const first = ['1', '"x"', `{"$oid":"${hex}"}`]
  const second = ['2', '"x"', '1', `"${hex}"`, `{"$oid":"${hex}"}`, 'null']
  const between = ['', '"a":1,', '"at":{"$date":"2024-01-02T03:04:05Z"},', '"n":{"$numberLong":"5"},']
  for (const index of ['sharded', 'none'] as const) {
    await using db = await open('x', { store: 'memory', index })
    const lines = first.flatMap((id) =>
      second.flatMap((other) =>
        between.flatMap((fields) =>
          ['"_id"', '"\\u005fid"', '"_id" '].map((key) => `{"_id":${id},${fields}${key}:${other}}`)
        )
      )
    )
    const { insertedCount, skippedCount } = await db.importLines([new TextEncoder().encode(lines.join('\n'))])
    assert.equal([insertedCount, skippedCount], [0, lines.length], index)
    // One _id, and the same key elsewhere.
    const good = first.map((id) => `{"_id":${id},"a":{"_id":${id}},"t":"\\u00e9 \\"_id\\":1"}`)
    assert.is((await db.importLines([new TextEncoder().encode(good.join('\n'))])).insertedCount, 3, index)
  }
})

test('a refused line writes nothing, with both kinds of ids', async () => {
  for (const ids of ['table', 'reversible'] as const) {
    const store = new MemoryLevel()
    await using db = await open(store, { ids })
    await db.importLines([new TextEncoder().encode('{"_id":1}\n')])
    const before = await store.iterator().all()
    const lines = ['{"_id":2,"a":}', '{"_id":3,"__proto__":1}', '{"_id":4,"_id":5}']
    const { skippedCount } = await db.importLines([new TextEncoder().encode(lines.join('\n'))])
    assert.is(skippedCount, 3)
    assert.equal(await store.iterator().all(), before, ids)
  }
})

test('strict stops at the first bad line: earlier lines are stored, later ones are not', async () => {
  await using db = await open('x', { store: 'memory' })
  const bytes = new TextEncoder().encode('{"_id":1}\n{"_id":2}\n{"_id":1}\n{"_id":4}\n')
  let caught: unknown
  await db.importLines([bytes], { strict: true }).catch((error: unknown) => {
    caught = error
  })
  const { line, problem, message } = caught as BadLine
  assert.is(line, 3)
  assert.is(message, `line 3: ${problem}`)
  assert.match(problem, /E11000/)
  assert.equal(await db.find({}).toArray(), [{ _id: 1 }, { _id: 2 }])
})

test('strict stops there also within one of many batches, for invalid JSON as for a duplicate _id', async () => {
  for (const bad of ['{"_id":}', '{"_id":0}']) {
    for (let at = 1; at < 12; at++) {
      await using db = await open('x', { store: 'memory' })
      const lines = Array.from({ length: 12 }, (_, i) => (i === at ? bad : `{"_id":${i}}`))
      const bytes = new TextEncoder().encode(lines.join('\n'))
      const caught = await db.importLines(inPieces(bytes, 7), { strict: true, batch: 3 }).then(
        () => undefined,
        (error: unknown) => error as BadLine
      )
      assert.is(caught?.line, at + 1)
      const stored = (await db.find({}).toArray()).map(({ _id }) => _id)
      assert.equal(
        stored,
        Array.from({ length: at }, (_, i) => i)
      )
    }
  }
})

test('the last line needs no line end, and blank lines are ignored', async () => {
  for (const end of ['', '\n', '\r\n', '\n\n  \n']) {
    await using db = await open('x', { store: 'memory' })
    const { insertedCount } = await db.importLines([new TextEncoder().encode(`{"_id":1}\n{"_id":2}${end}`)])
    assert.is(insertedCount, 2)
    assert.equal(await db.find({}).toArray(), [{ _id: 1 }, { _id: 2 }])
  }
})

test('if the source fails, the lines read before are stored', async () => {
  await using db = await open('x', { store: 'memory' })
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode('{"_id":1}\n{"_id":2}\n{"_id":')
    throw new TypeError('gone')
  }
  await db.importLines(broken()).then(
    () => assert.unreachable(),
    (error: unknown) => assert.instance(error, TypeError)
  )
  assert.is(await db.countDocuments(), 2)
})

test('an aborted import keeps complete lines and fails with AbortError', async () => {
  await using db = await open('x', { store: 'memory' })
  const controller = new AbortController()
  async function* source(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode('{"_id":1}\n{"_id":2')
    controller.abort()
    yield new TextEncoder().encode('2}\n')
  }
  await db.importLines(source(), { signal: controller.signal }).then(
    () => assert.unreachable(),
    (error: unknown) => {
      assert.instance(error, AbortedError)
      assert.equal((error as AbortedError).details, { insertedCount: 1, skippedCount: 0 })
    }
  )
  assert.equal(await db.find({}).toArray(), [{ _id: 1 }])
})

test('an import is aborted within a chunk, however large that is', async () => {
  await using db = await open('x', { store: 'memory' })
  const controller = new AbortController()
  const line = `{"text":"${'x'.repeat(1000)}"}\n`
  const count = 10_000
  const onProgress = (): void => controller.abort()
  const options = { threads: 0, batch: 100, signal: controller.signal, onProgress }
  const failed = await db.importLines([Buffer.from(line.repeat(count))], options).catch((error: unknown) => error)
  assert.instance(failed, AbortedError)
  const imported = await db.countDocuments()
  assert.is((failed as AbortedError).details.insertedCount, imported)
  assert.ok(imported >= 100 && imported < count / 2, `${imported} documents`)
})

test('white space and escapes in a line do not affect filters that the index cannot answer', async () => {
  await using db = await open('x', { store: 'memory' })
  const spellings = ['"n":', '"n" :', '"n" : ', '"n"\t:\r', '"\\u006e":', '"\\u006E" : ']
  const lines = Array.from({ length: 600 }, (_, i) => `{"_id":${i}, ${spellings[i % 6]}${i},"t" : "abc${i}"}`)
  await db.importLines([new TextEncoder().encode(lines.join('\n'))])
  for (const hint of ['scan', 'index'] as const) {
    const found = async (filter: Document): Promise<number> => (await db.find(filter, { hint }).toArray()).length
    assert.is(await found({ n: { $mod: [7, 0] } }), 86, hint)
    assert.is(await found({ n: { $gt: 5, $lt: 100 } }), 94, hint)
    assert.is(await found({ t: /abc12/ }), 11, hint)
    assert.is(await found({ n: { $bitsAllSet: [0] } }), 300, hint)
  }
})

test('replacing an imported document by an equal one changes nothing, however its line was written', async () => {
  await using db = await open('x', { store: 'memory' })
  await db.importLines([new TextEncoder().encode('{"_id":1, "a" : [1.0,  "\\u0041"]}\n')])
  const { matchedCount, modifiedCount } = await db.replaceOne({ _id: 1 }, { a: [1, 'A'] })
  assert.equal([matchedCount, modifiedCount], [1, 0])
  const _id = new ObjectId('65a1b2c3d4e5f60718293a4b')
  await db.importLines([
    new TextEncoder().encode(`{"_id":{"$oid":"${_id.toHexString()}"},  "a" : [1.0,  "\\u0041"]}\n`)
  ])
  for (const [replacement, isOther] of [
    [{ a: [1, 'A'] }, 0],
    [{ a: [1, 'B'] }, 1]
  ] as const) {
    const replaced = await db.replaceOne({ _id }, replacement)
    assert.equal([replaced.matchedCount, replaced.modifiedCount], [1, isOther])
  }
  assert.equal(await db.get(_id), { _id, a: [1, 'B'] })
  const at = new Date('2024-05-06T07:08:09Z')
  const dated = `{"_id":7, "at" : {"$date":"2024-05-06T07:08:09Z"},"of":{"$oid":"${_id.toHexString()}"}}\n`
  for (let i = 0; i < 2; i++) {
    await db.deleteOne({ _id: 7 })
    // The second time its bytes are read.
    await db.importLines([new TextEncoder().encode(dated)])
    assert.equal(await db.get(7), { _id: 7, at, of: _id })
    const same = await db.replaceOne({ _id: 7 }, { at, of: _id })
    assert.equal([same.matchedCount, same.modifiedCount], [1, 0])
  }
})

test.run()
