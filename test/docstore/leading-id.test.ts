/** The `_id` read from the first bytes of a line or record, and its key, are those of the document. */
import { ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { IdKeys, keysOf } from '../../src/docstore/bulk/id-keys.ts'
import { JsonRecord, readDocument } from '../../src/docstore/documents/json-record.ts'
import { endOfLeadingId } from '../../src/docstore/documents/leading-id.ts'
import { decodeRecord, encodeRecord } from '../../src/docstore/documents/record.ts'
import { RecordArena } from '../../src/docstore/documents/record-arena.ts'
import { encodeKey } from '../../src/model/key.ts'
import { jsonFormOf } from '../../src/sharded-bloom/byte-scan/plain.ts'
import { testSeed } from '../support/arbitraries.ts'
import { anyString } from '../support/values.ts'

const seed = testSeed()
const runs = 3000

const ids = fc.oneof(
  fc.nat(),
  fc.maxSafeNat(),
  fc.double(),
  fc.constantFrom(0, 1, 9, 10, 2 ** 53 - 1, 2 ** 53, 1e15, 1e16, 1e21, -1, 1.5),
  anyString,
  fc.string({ unit: 'grapheme-ascii', maxLength: 30 }),
  fc.constantFrom('', 'a'.repeat(1000), 'a'.repeat(1100), '"', '\\', 'ü', '\u007f', '\n'),
  fc.constant(null)
)
const spellings: fc.Arbitrary<(text: string) => string> = fc.constantFrom(
  (text) => text,
  (text) => text.replace(':', ': '),
  (text) => ` ${text}`,
  (text) => text.replace(/,/, ' ,'),
  (text) => text.replace('"_id":', '"_id":0'),
  (text) => text.slice(0, -1)
)

/** Undefined for a line that is not JSON. */
function parsed(line: string): unknown {
  try {
    return (JSON.parse(line) as { _id: unknown })._id
  } catch {
    return undefined
  }
}

test("an _id read from a line's bytes is the document's, and so is its key", () => {
  let found = 0
  fc.assert(
    fc.property(ids, spellings, fc.boolean(), fc.nat(40), (id, spell, isAlone, before) => {
      const line = spell(JSON.stringify(isAlone ? { _id: id } : { _id: id, a: 1 }))
      const bytes = Buffer.from(`${'x'.repeat(before)}${line}\n{"_id":77,"b":1}\n`)
      const end = before + Buffer.byteLength(line)
      const idEnd = endOfLeadingId(bytes, before, end, true)
      const document = parsed(line)
      const read = JsonRecord.ofLine(bytes.subarray(before, end))
      assert.is(read !== undefined, idEnd >= 0)
      // Invalid JSON is detected later.
      if (read === undefined || document === undefined) return
      found++
      assert.is(read.id, document)
      const keys = new IdKeys(1)
      keys.addLeading(bytes, before, idEnd)
      assert.equal([...keysOf(keys.loaded)].map(hex), [hex(encodeKey(document))])
    }),
    { seed, numRuns: runs }
  )
  assert.ok(found > runs / 10, `${found} of ${runs}`)
})

test("an _id read from a record's bytes is the document's, and so is its key", () => {
  let found = 0
  const objectIds = fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => new ObjectId(bytes))
  fc.assert(
    fc.property(fc.oneof(ids, objectIds), fc.constantFrom(undefined, 1, new Date(5)), fc.nat(40), (id, a, before) => {
      const document = a === undefined ? { _id: id } : { _id: id, a }
      const isPlain = jsonFormOf(document) !== undefined
      const record = encodeRecord(document, isPlain)
      const bytes = Buffer.from(`${'x'.repeat(before)}${record}\n{"_id":77,"b":1}\n`)
      const end = before + Buffer.byteLength(record)
      const read = JsonRecord.ofRecord(bytes.subarray(before, end))
      if (id instanceof ObjectId) assert.ok(read !== undefined)
      if (read === undefined) return
      found++
      assert.equal(read.id, document._id)
      assert.equal(read.parse(), document)
      const keys = new IdKeys(1)
      const start = before + read.start
      const idEnd = endOfLeadingId(bytes, start, end, read.form === 'wrapped')
      keys.addLeading(bytes, start, idEnd, read.form === 'objectId')
      assert.equal([...keysOf(keys.loaded)].map(hex), [hex(encodeKey(document._id))])
    }),
    { seed, numRuns: runs }
  )
  assert.ok(found > runs / 4, `${found} of ${runs}`)
})

test('a line that begins with an ObjectId, as mongoexport writes it, is a record of the same document', () => {
  const hex = '65a1b2c3d4e5f60718293a4b'
  const lines: readonly (readonly [line: string, isRecord: boolean])[] = [
    [`{"_id":{"$oid":"${hex}"}}`, true],
    [`{"_id":{"$oid":"${hex}"},"a":[1, "é"] , "b" : {"c":null}}`, true],
    [`{"_id":{"$oid":"${hex}"},"at":{"$date":"2024-01-02T03:04:05Z"},"n":{"$numberLong":"5"}}`, true],
    [`{"_id":{"$oid":"${hex.toUpperCase()}"},"a":1}`, false],
    [`{"_id":{"$oid":"${hex}00"},"a":1}`, false],
    [`{"_id":{"$oid":"${hex.slice(2)}"},"a":1}`, false],
    [`{"_id":{"$oid":"${hex}" },"a":1}`, false],
    [`{"_id": {"$oid":"${hex}"},"a":1}`, false],
    [`{"_id":{"$oid":"${hex}"} ,"a":1}`, false],
    [`{"_id":{"$oid":"${hex}","x":1},"a":1}`, false],
    [`{"_id":{"$oid":"${hex}"}`, false]
  ]
  for (const [line, isRecord] of lines) {
    const bytes = Buffer.from(`xx${line}`).subarray(2)
    const record = JsonRecord.ofLine(bytes)
    assert.is(record !== undefined, isRecord, line)
    if (record === undefined) continue
    const document = readDocument(bytes)
    assert.equal(record.id, new ObjectId(hex))
    assert.equal(record.parse(), document)
    // Stored as a record, with or without wrappers.
    const form = line.includes('$date') ? 'wrapped' : 'objectId'
    assert.is(record.form, form === 'wrapped' ? 'extended' : 'extendedObjectId')
    const stored = record.record(form, new RecordArena('kept'))
    assert.equal(decodeRecord(Buffer.from(stored).toString()), document)
    assert.equal(JsonRecord.ofRecord(stored)?.id, new ObjectId(hex))
  }
  const twice = JsonRecord.ofLine(Buffer.from(`{"_id":{"$oid":"${hex}"},"_id":7}`))
  assert.throws(() => twice?.parse(), /more than one _id/)
})

test('bytes after the end of a line are not taken for part of its _id', () => {
  for (const [line, rest] of [
    ['{"_id":12', '3,"a":1}'],
    ['{"_id":123', ',"a":1}'],
    ['{"_id":"ab', 'c","a":1}'],
    ['{"_id":"abc"', ',"a":1}'],
    ['{"_id":', '5}'],
    ['{"_id":{"$oid":"65a1b2c3d4e5f60718293a4', 'b"},"a":1}'],
    ['{"_id":{"$oid":"65a1b2c3d4e5f60718293a4b"', '},"a":1}'],
    ['{"_id":{"$oid":"65a1b2c3d4e5f60718293a4b"}', ',"a":1}'],
    ['{"_i', 'd":5}']
  ] as const) {
    assert.is(endOfLeadingId(Buffer.from(line + rest), 0, line.length, true), -1, line)
  }
})

test('the smallest and greatest keys are known in any order, and whether all are different', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.nat(50), fc.string({ maxLength: 3 })), { minLength: 1, maxLength: 40 }),
      (list) => {
        const keys = new IdKeys(list.length)
        for (const id of list) keys.add(encodeKey(id))
        const { smallest, greatest } = keys.loaded
        const sorted = list.map((id) => hex(encodeKey(id))).sort()
        assert.equal([hex(smallest), hex(greatest)], [sorted[0], sorted.at(-1)])
        assert.is(keys.areDistinct, new Set(list).size === list.length)
      }
    ),
    { seed }
  )
})

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

test.run()
