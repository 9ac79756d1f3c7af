/**
 * Which form should a stored document have: its JSON, its values with a shared shape, or MessagePack with shared
 * structures?
 *
 *     node --import tsx bench/records.ts [--count 20000] [file.ndjson …]
 *
 * Per document: bytes of the record, and after deflate in blocks of 4 KiB; microseconds of processor time to encode an
 * object as a record, to decode a record to a complete object, as find() does, and to convert a line of JSON to a
 * record, as an import does.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { deflateRawSync, gunzipSync } from 'node:zlib'
import { Packr } from 'msgpackr'
import { generateTweets } from '../src/workload/tweets.ts'
import { table } from './query-report.ts'
import { banner, compare, processorClock } from './spread.ts'

interface Form {
  readonly name: string
  encode(document: object): Uint8Array
  decode(record: Uint8Array): unknown
  /** Converts a line of JSON to a record. */
  fromLine(line: Uint8Array): Uint8Array
}

const { values: options, positionals } = parseArgs({
  options: { count: { type: 'string', default: '20000' } },
  allowPositionals: true
})
const blockBytes = 4096

console.log(`${banner()}\n`)
measure('generated tweets', [...generateTweets({ count: Number(options.count), seed: 1 })])
for (const path of positionals) measure(path.split('/').at(-1) ?? path, readLines(path))

function measure(label: string, documents: readonly object[]): void {
  const lines = documents.map((document) => Buffer.from(JSON.stringify(document)))
  const rows = [json(), shaped(), packed()].map((form) => {
    const records = documents.map((document) => form.encode(document))
    const decoded = JSON.stringify(form.decode(records[0]!))
    if (decoded !== String(lines[0])) throw new TypeError(`${form.name} does not give back what it was given`)
    const bytes = sum(records.map((record) => record.length)) / records.length
    const times = compare(
      {
        encode: (count) => repeat(count, (i) => form.encode(documents[i % documents.length]!)),
        decode: (count) => repeat(count, (i) => form.decode(records[i % records.length]!)),
        line: (count) => repeat(count, (i) => form.fromLine(lines[i % lines.length]!))
      },
      10_000,
      5,
      processorClock
    )
    const microseconds = (name: string): string => ((times.get(name)?.median ?? Number.NaN) / 1000).toFixed(2)
    return [
      form.name,
      bytes.toFixed(0),
      (deflatedBytes(records) / records.length).toFixed(0),
      microseconds('encode'),
      microseconds('decode'),
      microseconds('line')
    ]
  })
  const head = ['', 'bytes', 'deflated', 'object → record, µs', 'record → object, µs', 'line → record, µs']
  console.log(`${label}, ${documents.length} documents\n\n${table(head, rows)}\n`)
}

function json(): Form {
  const decoder = new TextDecoder()
  return {
    name: 'JSON',
    encode: (document) => Buffer.from(JSON.stringify(document)),
    decode: (record) => JSON.parse(decoder.decode(record)),
    fromLine: (line) => line
  }
}

/** A number that stands for the document's nested keys, and a JSON array of the values in the order of these keys. */
function shaped(): Form {
  const decoder = new TextDecoder()
  const numbers = new Map<string, number>()
  const builders: ((values: readonly unknown[]) => unknown)[] = []
  const encode = (document: object): Uint8Array => {
    const values: unknown[] = []
    const source = describe(document, values)
    let number = numbers.get(source)
    if (number === undefined) {
      number = builders.length
      numbers.set(source, number)
      // One function per shape: an object literal gives all its objects one hidden class.
      builders.push(new Function('v', `return ${source}`) as (values: readonly unknown[]) => unknown)
    }
    return Buffer.from(`${number}${JSON.stringify(values)}`)
  }
  return {
    name: 'shape and values',
    encode,
    decode: (record) => {
      const text = decoder.decode(record)
      const start = text.indexOf('[')
      return builders[Number(text.slice(0, start))]!(JSON.parse(text.slice(start)) as unknown[])
    },
    fromLine: (line) => encode(JSON.parse(decoder.decode(line)) as object)
  }
}

/** The source of an object literal that creates the object from its values; arrays are values. */
function describe(object: object, values: unknown[]): string {
  const fields = Object.entries(object).map(([key, value]) => {
    const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value)
    return `${JSON.stringify(key)}:${isPlain ? describe(value as object, values) : `v[${values.push(value) - 1}]`}`
  })
  return `{${fields.join(',')}}`
}

function packed(): Form {
  const packr = new Packr({ structures: [], maxSharedStructures: 8000, useRecords: true })
  const decoder = new TextDecoder()
  return {
    name: 'msgpackr, shared structures',
    encode: (document) => packr.pack(document),
    decode: (record) => packr.unpack(record),
    fromLine: (line) => packr.pack(JSON.parse(decoder.decode(line)))
  }
}

function deflatedBytes(records: readonly Uint8Array[]): number {
  let total = 0
  let block: Uint8Array[] = []
  let size = 0
  for (const record of records) {
    block.push(record)
    size += record.length
    if (size < blockBytes) continue
    total += deflateRawSync(Buffer.concat(block), { level: 1 }).length
    block = []
    size = 0
  }
  return total
}

function repeat(count: number, run: (i: number) => unknown): unknown {
  let last: unknown
  for (let i = 0; i < count; i++) last = run(i)
  return last
}

function readLines(path: string): object[] {
  const bytes = readFileSync(path)
  const text = String(path.endsWith('.gz') ? gunzipSync(bytes) : bytes)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .slice(0, Number(options.count))
    .map((line) => JSON.parse(line) as object)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0)
}
