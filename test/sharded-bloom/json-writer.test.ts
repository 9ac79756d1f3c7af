/**
 * The writer's bytes are those of JSON.stringify() and an encoder, for documents with dates or ObjectIds those of the
 * wrapped document. It refuses only what JSON does not hold exactly, or what there is no room for.
 */
import { ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, Type, typeOf } from '../../src/model/types.ts'
import { JsonWriter, jsonWriter } from '../../src/sharded-bloom/byte-scan/json-writer.ts'
import { jsonFormOf } from '../../src/sharded-bloom/byte-scan/plain.ts'
import { instantiateScanner } from '../../src/sharded-bloom/byte-scan/scanner-module.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { adversarial, documents, plain, testSeed } from '../support/arbitraries.ts'
import { encodeStored } from '../support/scanned-segments.ts'

const seed = testSeed()
const shared = jsonWriter()
if (shared === undefined) throw new Error('the tests need WebAssembly')
const writer: JsonWriter = shared

function newWriter(): JsonWriter {
  const module = instantiateScanner()
  if (module === undefined) throw new Error('no memory for a writer')
  return new JsonWriter(module)
}

function stringified(document: Document): Buffer {
  const { bytes, form } = encodeStored(document)
  return Buffer.concat([Buffer.from({ json: '', objectId: '\u0002', wrapped: '\u0001' }[form]), bytes])
}

/** Whether JSON would hold the document except for its dates and ObjectIds, and no key looks like a wrapper's. */
function isWrappable(document: Document): boolean {
  let hasDollar = false
  const without = (value: unknown): unknown => {
    const type = typeOf(value)
    if (type === Type.date || type === Type.objectId) return null
    if (Array.isArray(value)) return value.map(without)
    if (type !== Type.object) return value
    return Object.fromEntries(
      Object.entries(value as Document).map(([key, field]) => {
        hasDollar ||= key.startsWith('$')
        return [key, without(field)]
      })
    )
  }
  return jsonFormOf(without(document) as Document) === 'json' && !hasDollar
}

function check(document: Document, by = writer): void {
  const first = by.write(document)
  // The first call has then cleared the keys.
  const written = first === 'noRoom' ? by.write(document) : first
  if (typeof written === 'string') assert.unreachable(`${written}: ${JSON.stringify(document).slice(0, 200)}`)
  else if (!stringified(document).equals(written))
    assert.is(Buffer.from(written).toString(), stringified(document).toString())
}

test('adversarial documents are written exactly if JSON holds them, dates and ObjectIds aside', () => {
  let yes = 0
  for (const document of fc.sample(documents(adversarial), { numRuns: 5000, seed })) {
    if (jsonFormOf(document) === undefined && !isWrappable(document)) assert.is(writer.write(document), 'notPlain')
    else {
      check(document)
      yes++
    }
  }
  assert.ok(yes > 500)
})

test('plain documents, any JSON and tweets are written', () => {
  for (const document of fc.sample(documents(plain), { numRuns: 1000, seed })) check(document)
  const anyObject = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }))
  for (const document of fc.sample(anyObject, { numRuns: 1000, seed })) {
    if (jsonFormOf(document) !== undefined) check(document)
  }
  for (const tweet of generateTweets({ count: 2000, seed: 1 })) check(tweet)
})

test('every code unit that JSON.stringify() escapes is escaped, wherever it occurs', () => {
  for (let start = 0; start < 65_536; start += 256) {
    const units = Array.from({ length: 256 }, (_, i) => String.fromCharCode(start + i))
    check({ alone: units, between: units.map((unit) => `abc${unit}d`), together: units.join('') })
  }
  const special = [
    '"',
    '\\',
    '\n',
    '\u0000',
    '\u007f',
    '\u0080',
    'é',
    '€',
    '\ud83d\ude00',
    '\ud83d',
    '\ude00',
    '\ufeff'
  ]
  for (const text of special) {
    for (let before = 0; before < 20; before++) {
      for (const after of [0, 1, 7, 8, 9]) check({ text: 'a'.repeat(before) + text + 'b'.repeat(after), next: 'c' })
    }
  }
  const unit = fc.constantFrom('a', 'z', ...special)
  const texts = fc.array(fc.array(unit, { maxLength: 40 }).map((units) => units.join('')))
  for (const list of fc.sample(texts, { numRuns: 1000, seed })) check({ list })
})

test('numbers are written as by JSON.stringify()', () => {
  const numbers = [
    0,
    0.1,
    1e21,
    1e-7,
    1.5e300,
    5e-324,
    2 ** 31 - 1,
    2 ** 31,
    -(2 ** 31),
    -(2 ** 31) - 1,
    2 ** 32 - 1,
    2 ** 32
  ]
  numbers.push(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 53, -(2 ** 53), 1e16, Number.MAX_VALUE)
  for (let power = 1; power < 23; power++)
    numbers.push(10 ** power - 1, 10 ** power, 10 ** power + 1, -(10 ** power), 1 / 10 ** power)
  check({ numbers, one: 1 })
  for (const list of fc.sample(fc.array(fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.double())), {
    numRuns: 2000,
    seed
  })) {
    check({ list: list.filter((number) => Number.isFinite(number) && !Object.is(number, -0)) })
  }
  for (const value of [-0, Number.NaN, Infinity]) assert.is(writer.write({ value }), 'notPlain')
})

test('keys may come in another order, be missing, or come back', () => {
  const fields = fc.subarray(['a', 'b', 'a"b', 'é', '1', '', 'a.b', 'toString'])
  const object = fields.chain((keys) => fc.tuple(...keys.map((key) => fc.constant([key, 1] as const))))
  const shuffled = object.chain((entries) => fc.shuffledSubarray(entries, { minLength: entries.length }))
  for (const lists of fc.sample(fc.array(shuffled), { numRuns: 1000, seed })) {
    const objects = lists.map((entries) => Object.fromEntries(entries))
    check({ objects, ...objects[0], inner: { ...objects[1], inner: objects[2] ?? null } })
  }
})

test('undefined fields are left out, and objects without a prototype are written', () => {
  check({ a: undefined, b: 1, c: undefined, d: { e: undefined }, f: [] })
  check({ a: undefined })
  check(Object.assign(Object.create(null), { a: Object.create(null) }))
})

test('a document whose _id is an ObjectId is marked', () => {
  check({ _id: new ObjectId(), a: 1, b: { _id: 2 } })
  check({ _id: 'x', a: { _id: new ObjectId() } })
  check({ _id: [new ObjectId()] })
  class Foreign {
    readonly _bsontype = 'ObjectId'
  }
  assert.throws(() => writer.write({ _id: new Foreign() }), /24 hexadecimal digits/)
})

test('dates, and ObjectIds that are not the _id, are wrapped', () => {
  const id = new ObjectId('00112233445566778899aabb')
  const text = (document: Document): string => Buffer.from(writer.write(document)).toString('latin1')
  const wrapped = '{"$oid":"00112233445566778899aabb"}'
  assert.is(text({ _id: id, of: id }), `\u0001{"_id":${wrapped},"of":${wrapped}}`)
  assert.is(text({ at: [new Date(-1)] }), '\u0001{"at":[{"$date":{"$numberLong":"-1"}}]}')
  const times = [0, 1, -1, 999, 1e12, -1e12, 8.64e15, -8.64e15, 2 ** 32, -(2 ** 32), 99_999_999, 1e8]
  check({ times: times.map((time) => new Date(time)), x: 1 })
  for (const list of fc.sample(fc.array(fc.date({ noInvalidDate: true })), { numRuns: 1000, seed })) check({ list, id })
  assert.is(writer.write({ at: new Date(Number.NaN) }), 'notPlain')
  // Documents with a key like a wrapper's are written in another way.
  assert.is(writer.write({ at: new Date(0), $x: 1 }), 'notPlain')
  assert.is(writer.write({ a: { $date: 1 }, at: new Date(0) }), 'notPlain')
  check({ a: { $date: 1 }, $x: 1 })
  // A subclass cannot change which date is written by overriding methods.
  for (const time of [5, 1.5, Number.POSITIVE_INFINITY, 1e18, 1.8e19, undefined, 'x']) {
    class Odd extends Date {
      override getTime(): number {
        return time as number
      }
    }
    assert.is(text({ at: new Odd(7) }), '\u0001{"at":{"$date":{"$numberLong":"7"}}}')
  }
  assert.throws(() => writer.write({ at: Object.create(Date.prototype) }), /Date/)
})

test('documents are written up to the greatest depth of nesting', () => {
  const nested = (depth: number): Document => {
    let value: unknown = 1
    for (let i = 1; i < depth; i++) value = i % 2 === 0 ? [value] : { value }
    return { value }
  }
  check(nested(100))
  assert.is(writer.write(nested(101)), 'notPlain')
  const cycle: Document = {}
  cycle.self = cycle
  assert.is(writer.write(cycle), 'notPlain')
})

test('the writer returns noRoom for large documents, and works afterwards', () => {
  const mine = newWriter()
  const large: Document[] = [
    { text: 'a'.repeat(200_000) },
    { text: '\u0001'.repeat(100_000) },
    { list: new Array(40_000).fill(null) },
    { list: new Array(20_000).fill(2 ** 40) },
    { texts: new Array(10_000).fill('\u0001'.repeat(12)) },
    { list: new Array(16_000).fill({ ['k'.repeat(60)]: null }) },
    { ['k'.repeat(2000)]: 1 }
  ]
  for (const document of large) {
    assert.is(mine.write(document), 'noRoom')
    check({ a: 1, b: ['c'] }, mine)
  }
})

test('the writer forgets keys when there are too many', () => {
  const mine = newWriter()
  let refused = 0
  for (let i = 0; i < 60_000; i++) {
    const document = { [`key${i}`]: { [`inner${i % 7}`]: 'x' }, always: i }
    if (mine.write(document) === 'noRoom') refused++
    check(document, mine)
  }
  assert.ok(refused > 0 && refused < 20, `${refused}`)
  const long = 'l'.repeat(900)
  for (let i = 0; i < 2000; i++) {
    check({ [long + i]: i }, mine)
  }
})

test('a getter that writes a document, or throws, does no harm', () => {
  const inner = { x: 'inner', y: [1, 2, 3] }
  const outer = {
    a: 'outer',
    get b(): number {
      check(inner)
      return 1
    }
  }
  assert.is(writer.write(outer), 'noRoom')
  const failing = {
    get a(): number {
      throw new RangeError('no')
    }
  }
  assert.throws(() => writer.write(failing), /no/)
  check(inner)
})

test('each property is read once', () => {
  let reads = 0
  const document = {
    get a(): number {
      return ++reads
    }
  }
  assert.is(Buffer.from(writer.write(document)).toString(), '{"a":1}')
  const ids = {
    get _id(): ObjectId {
      reads++
      return new ObjectId('00112233445566778899aabb')
    }
  }
  assert.is(Buffer.from(writer.write(ids)).toString('latin1'), '\u0002{"_id":"00112233445566778899aabb"}')
  assert.is(reads, 2)
})

test.run()
