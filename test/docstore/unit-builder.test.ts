/** In units of mixed lines, each line is copied to the scanner a few times at most, and scanned once. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type BuiltUnit, type LineKind, numbersFor } from '../../src/docstore/bulk/load-unit.ts'
import { buildUnit } from '../../src/docstore/bulk/unit-builder.ts'
import { JsonRecord } from '../../src/docstore/documents/json-record.ts'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { EarlierChoices } from '../../src/sharded-bloom/bulk/earlier-choices.ts'
import { ByteIngest } from '../../src/sharded-bloom/byte-scan/byte-ingest.ts'
import { Scanner } from '../../src/sharded-bloom/byte-scan/scanner.ts'
import { checkTuning } from '../../src/sharded-bloom/tune/tuning-options.ts'

const count = 4096

interface Work {
  /** Bytes copied for runs, divided by the bytes of the lines. */
  readonly copies: number
  /** Scans per line. */
  readonly scans: number
  /** Objects made per line. */
  readonly objects: number
}

/** Builds a unit of lines, each with its line feed. */
async function unitOf(lines: readonly Uint8Array[], kind: LineKind): Promise<BuiltUnit | undefined> {
  const text = Buffer.concat(lines)
  const bytes = new Uint8Array(new SharedArrayBuffer(text.length))
  bytes.set(text)
  const ends = new Uint32Array(new SharedArrayBuffer(4 * lines.length))
  let end = 0
  ends.set(lines.map(({ length }) => (end += length)))
  const fileSystem = new MemoryFileSystem()
  const store = new LsmLevel('/db', { fileSystem, partitionDepth: 1 })
  await store.open()
  try {
    const ingest = await store.beginIngest()
    const segments = { seedLo: 1, seedHi: 2, segmentDocuments: count, tuning: checkTuning({}) }
    const area = (name: string): Buffer => Buffer.from(`!${name}!`)
    const plan = { ingest: ingest.plan, segments, docs: area('docs'), ids: area('ids'), index: area('index') }
    const numbers = numbersFor(text.length)
    const request = {
      plan,
      unit: { kind, bytes, ends },
      firstOrdinal: 0,
      firstNumber: ingest.takeNumbers(numbers),
      numbers
    }
    return await buildUnit(request, fileSystem, new EarlierChoices())
  } finally {
    await store.close()
  }
}

async function workOf(line: (i: number) => string, kind: LineKind = 'line'): Promise<Work> {
  const lines = Array.from({ length: count }, (_, i) => Buffer.from(`${line(i)}\n`))
  const textBytes = lines.reduce((sum, { length }) => sum + length, 0)
  let copied = 0
  let scans = 0
  let objects = 0
  const { parse } = JsonRecord.prototype
  JsonRecord.prototype.parse = function () {
    objects++
    return parse.call(this)
  }
  const { stage } = ByteIngest.prototype
  const { scan, scanStaged } = Scanner.prototype
  ByteIngest.prototype.stage = function (part) {
    copied += part.length
    return stage.call(this, part)
  }
  Scanner.prototype.scan = function (...given) {
    // Except those of a sample.
    if (given[5] !== true) scans++
    return scan.apply(this, given)
  }
  Scanner.prototype.scanStaged = function (...given) {
    scans++
    return scanStaged.apply(this, given)
  }
  try {
    assert.is((await unitOf(lines, kind))?.documents, count)
  } finally {
    Object.assign(JsonRecord.prototype, { parse })
    Object.assign(ByteIngest.prototype, { stage })
    Object.assign(Scanner.prototype, { scan, scanStaged })
  }
  return { copies: copied / textBytes, scans: scans / count, objects: objects / count }
}

const tweet = (id: string, i: number, more = ''): string =>
  `{"_id":${id},"user":{"name":"user ${i % 31}","followers":${i % 1000}},"lang":"en"${more}}`
const oid = (i: number): string => `{"$oid":"${i.toString(16).padStart(24, '0')}"}`
const date = ',"at":{"$date":"2024-01-02T03:04:05Z"}'
const long = ',"n":{"$numberLong":"5"}'

test('lines that begin with an _id are copied once and scanned once', async () => {
  const { copies, scans } = await workOf((i) => tweet(String(i), i))
  assert.ok(copies > 0.9 && copies < 1.2, `${copies} copies`)
  assert.ok(scans < 1.1, `${scans} scans`)
})

test('JSON records, with ObjectIds among them, are copied once and scanned once', async () => {
  const { copies, scans } = await workOf((i) => {
    const digits = i.toString(16).padStart(24, '0')
    return i % 2 === 0 ? tweet(String(i), i) : `\u0002${tweet(`"${digits}"`, i)}`
  }, 'record')
  assert.ok(copies > 0.9 && copies < 1.2, `${copies} copies`)
  assert.ok(scans < 1.1, `${scans} scans`)
})

test('lines as mongoexport writes them are not copied for runs, and no objects are made of them', async () => {
  const { copies, scans, objects } = await workOf((i) => tweet(oid(i), i))
  assert.is(copies, 0)
  assert.ok(scans < 1.1, `${scans} scans`)
  assert.ok(objects < 0.01, `${objects} objects`)
})

test('lines with dates are copied once and scanned once, and no objects are made of them', async () => {
  for (const id of [String, oid]) {
    const { copies, scans, objects } = await workOf((i) => tweet(id(i), i, date))
    assert.ok(copies < 1.2, `${copies} copies`)
    assert.ok(scans < 1.1, `${scans} scans`)
    assert.ok(objects < 0.01, `${objects} objects`)
  }
})

test('records with dates and ObjectIds are copied once and scanned once', async () => {
  const { copies, scans, objects } = await workOf((i) => {
    const id = i % 2 === 0 ? String(i) : oid(i)
    return `\u0001${tweet(id, i, ',"at":{"$date":{"$numberLong":"1700000000000"}}')}`
  }, 'record')
  assert.ok(copies > 0.9 && copies < 1.2, `${copies} copies`)
  assert.ok(scans < 1.1, `${scans} scans`)
  assert.ok(objects < 0.01, `${objects} objects`)
})

test('alternating lines of both kinds are copied once', async () => {
  const { copies, scans } = await workOf((i) => tweet(i % 2 === 0 ? String(i) : oid(i), i))
  assert.ok(copies < 1, `${copies} copies`)
  assert.ok(scans < 1.1, `${scans} scans`)
})

test('lines that the scanner refuses are scanned once, and few others are copied again because of them', async () => {
  for (const one of [2, 3, 10]) {
    const { copies, scans } = await workOf((i) => tweet(String(i), i, i % one === 0 ? long : ''))
    assert.ok(copies < 5, `one in ${one}: ${copies} copies`)
    assert.ok(scans < 1.01, `one in ${one}: ${scans} scans`)
  }
})

test('a unit with a line that is not UTF-8 is not built, wherever it is and whoever reads it', async () => {
  const forms: readonly ((i: number) => string)[] = [
    (i) => tweet(String(i), i),
    (i) => tweet(oid(i), i),
    (i) => `{"i":${i}}`
  ]
  for (const form of forms) {
    for (const at of [0, 1, 700, count - 1]) {
      for (const wrong of ['"text":"\xc3("', '"te\xffxt":1', '"n":1\x80']) {
        const lines = Array.from({ length: count }, (_, i) => Buffer.from(`${form(i)}\n`))
        const good = lines[at]!.toString().trimEnd().slice(0, -1)
        lines[at] = Buffer.concat([Buffer.from(`${good},`), Buffer.from(wrong, 'latin1'), Buffer.from('}\n')])
        assert.is(await unitOf(lines, 'line'), undefined, `${form(at)} ${at} ${JSON.stringify(wrong)}`)
      }
    }
  }
})

test.run()
