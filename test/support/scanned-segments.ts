/**
 * Segments of the same documents, which must be equal: one is fed with bytes wherever the scanner takes them, one while
 * records are written wherever the writer can, and one with objects.
 */
import * as assert from 'uvu/assert'
import { loadHasher } from '../../src/bloom/hash.ts'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { parseJson } from '../../src/model/extended-json.ts'
import type { Document } from '../../src/model/types.ts'
import { unwrap, wrap } from '../../src/model/wrappers.ts'
import { ByteIngest } from '../../src/sharded-bloom/byte-scan/byte-ingest.ts'
import type { JsonForm, RecordForm } from '../../src/sharded-bloom/byte-scan/json-form.ts'
import { jsonFormOf } from '../../src/sharded-bloom/byte-scan/plain.ts'
import { type FlatDocument, Flattener } from '../../src/sharded-bloom/pairs/flatten.ts'
import { PairHash } from '../../src/sharded-bloom/pairs/pair-hash.ts'
import type { OpenColumn } from '../../src/sharded-bloom/ranges/open-column.ts'
import { ScratchArena } from '../../src/sharded-bloom/records/scratch-arena.ts'
import { wholePart } from '../../src/sharded-bloom/segment/and-groups.ts'
import { geometryOf } from '../../src/sharded-bloom/segment/geometry.ts'
import { OpenSegment } from '../../src/sharded-bloom/segment/open-segment.ts'
import type { HashedPair } from '../../src/sharded-bloom/segment/private-table.ts'
import type { Segment, SegmentParameters } from '../../src/sharded-bloom/segment/segment.ts'
import { entryWords, hiAt, loAt, type PairList, unitsAt } from '../../src/sharded-bloom/tune/pair-list.ts'
import { SampledValues } from '../../src/sharded-bloom/tune/sampled-values.ts'
import { Sampler } from '../../src/sharded-bloom/tune/sampler.ts'
import { chooseParameters } from '../../src/sharded-bloom/tune/segment-parameters.ts'
import { checkTuning } from '../../src/sharded-bloom/tune/tuning-options.ts'

const encoder = new TextEncoder()
const hasher = await loadHasher('murmur')

export function encodeJson(document: Document): Uint8Array {
  return encoder.encode(JSON.stringify(document))
}

/** The document's record without its mark, and how to read it. */
export function encodeStored(document: Document): { readonly bytes: Uint8Array; readonly form: RecordForm } {
  const form = jsonFormOf(document)
  if (form !== undefined) return { bytes: encodeJson(document), form }
  return { bytes: encoder.encode(JSON.stringify(wrap(document, 'stored'))), form: 'wrapped' }
}

/** A flattener and everything that shares its seed. */
export class SegmentTools {
  readonly flattener: Flattener
  readonly pairHash: PairHash

  constructor(seed: number) {
    this.flattener = new Flattener(hasher, { lo: seed, hi: ~seed })
    this.pairHash = new PairHash(hasher, (path) => this.flattener.seedOf(path))
  }

  ingest(): ByteIngest {
    // It never rests, so that a document is refused only because of its own content.
    return new ByteIngest((path) => this.flattener.seedOf(path), 0)
  }

  open(parameters: SegmentParameters, firstOrdinal = 0, segmentDocuments = 65_536): OpenSegment {
    return new OpenSegment(rowMemory(), geometryOf(segmentDocuments), this.pairHash, firstOrdinal, parameters)
  }

  /** The parameters chosen after these documents. */
  parametersFor(documents: Iterable<Document>, shards: number | 'auto' = 'auto', rowsPerPair = 8): SegmentParameters {
    const sampler = new Sampler()
    for (const document of documents) sampler.observe(this.flattener.flatten(document))
    return chooseParameters(sampler, checkTuning({ shards, rowsPerPair, rangeCodes: 'all' }), 65_536)
  }
}

export class SegmentPair {
  readonly tools: SegmentTools
  readonly ingest: ByteIngest
  readonly #writing: ByteIngest
  readonly #isWritingShared: boolean
  readonly scanned: OpenSegment
  readonly #written: OpenSegment
  readonly flattened: OpenSegment
  /** Number of documents taken from their bytes, and while their records were written. */
  handled = 0
  written = 0

  /** @param writing one shared by several pairs, which is not closed with them */
  constructor(tools: SegmentTools, ingest: ByteIngest, parameters: SegmentParameters, writing?: ByteIngest) {
    this.tools = tools
    this.ingest = ingest
    this.#writing = writing ?? tools.ingest()
    this.#isWritingShared = writing !== undefined
    this.scanned = tools.open(parameters)
    this.#written = tools.open(parameters)
    this.flattened = tools.open(parameters)
  }

  /** Returns whether the scanner took it. */
  add(document: Document): boolean {
    const { bytes, form } = encodeStored(document)
    return this.addText(document, bytes, form)
  }

  /** @param bytes a text of the document */
  addText(document: Document, bytes: Uint8Array, form: JsonForm = 'json'): boolean {
    // Every other document is treated as part of a sample.
    const isSampled = this.scanned.documents % 2 === 0
    const flat = this.tools.flattener.flatten(document)
    const isHandled = addTo(this.ingest, this.scanned, flat, isSampled, bytes, 0, form)
    if (isHandled) this.handled++
    this.#addElsewhere(document, flat, isSampled)
    return isHandled
  }

  /** Scans a part of `bytes`. @returns whether the scanner took it as a document; otherwise nothing has changed */
  addPart(bytes: Uint8Array, offset: number, length: number, form: JsonForm = 'json'): boolean {
    if (!this.ingest.add(this.scanned, bytes, offset, length, form)) return false
    const text = new TextDecoder().decode(bytes.subarray(offset, offset + length))
    const document = parsed(text, form)
    this.#addElsewhere(document, this.tools.flattener.flatten(document), false)
    return true
  }

  #addElsewhere(document: Document, flat: FlatDocument, isSampled: boolean): void {
    const { bytes, form } = encodeStored(document)
    const record = this.#writing.write(this.#written, document, isSampled)
    const isWritten = record instanceof Uint8Array
    const offset = isWritten && form !== 'json' ? 1 : 0
    const given = isWritten ? record : bytes
    if (addTo(this.#writing, this.#written, flat, isSampled, given, offset, form) && isWritten) this.written++
    this.flattened.add(flat)
  }

  assertEqual(): void {
    assertSameSegments(this.scanned, this.flattened)
    assertSameSegments(this.#written, this.flattened)
  }

  free(): void {
    this.scanned.free()
    this.#written.free()
    this.flattened.free()
    if (!this.#isWritingShared) this.#writing.close()
  }
}

function parsed(text: string, form: JsonForm): Document {
  if (form === 'extended') return parseJson(text) as Document
  const value: unknown = JSON.parse(text)
  return (form === 'wrapped' ? unwrap(value) : value) as Document
}

/** Runs `run` on segments with a new scanner; they must be equal at its end. */
export function withPair(tools: SegmentTools, parameters: SegmentParameters, run: (pair: SegmentPair) => void): void {
  const ingest = tools.ingest()
  const pair = new SegmentPair(tools, ingest, parameters)
  try {
    run(pair)
    pair.assertEqual()
  } finally {
    pair.free()
    ingest.close()
  }
}

/** Adds the document, as an object if its bytes are refused. @returns whether the bytes were taken */
function addTo(
  ingest: ByteIngest,
  segment: OpenSegment,
  flat: FlatDocument,
  isSampled: boolean,
  bytes: Uint8Array,
  offset: number,
  form: JsonForm
): boolean {
  let pairs: HashedPair[] | undefined
  const onPairs = (list: PairList): void => {
    pairs = pairsOf(list)
  }
  const told = isSampled ? onPairs : undefined
  if (!ingest.add(segment, bytes, offset, bytes.length - offset, form, told)) {
    segment.add(flat)
    ingest.learn(flat)
    return false
  }
  if (isSampled) assert.equal(pairs, flatPairsOf(flat), 'the pairs that a sample is told of')
  return true
}

function pairsOf(list: PairList): HashedPair[] {
  const values = new SampledValues()
  const { words } = list
  for (let i = 0; i < list.count; i++) values.add(i, list, i)
  values.keep(list, 0, list.count)
  return Array.from({ length: list.count }, (_, i) => {
    const key = values.key(i)
    assert.is(words[i * entryWords + unitsAt], typeof key === 'string' ? key.length : 0)
    const [lo, hi] = [words[i * entryWords + loAt]!, words[i * entryWords + hiAt]!]
    return { path: values.path(i), tag: values.tag(i), key, lo, hi }
  })
}

function flatPairsOf({ count, nodes, tags, keys, lo, hi }: FlatDocument): HashedPair[] {
  return Array.from({ length: count }, (_, i) => ({
    path: nodes[i]!.path,
    tag: tags[i]!,
    key: keys[i]!,
    lo: lo[i]!,
    hi: hi[i]!
  }))
}

/** Asserts that hashed rows, private rows by pair, columns, counts and eternal candidates are equal. */
export function assertSameSegments(scanned: OpenSegment, flattened: OpenSegment): void {
  assert.is(scanned.documents, flattened.documents)
  assert.is(scanned.hashedPairs, flattened.hashedPairs, 'hashed pairs')
  assert.is(scanned.isShapeComplete, flattened.isShapeComplete)
  assert.equal(scanned.alwaysCandidates, flattened.alwaysCandidates)
  assertSameTails(scanned, flattened)
  assertSameColumns(scanned, flattened)
  const slots = slotsByPair(flattened)
  assert.is(scanned.privatePairs().length, slots.size, 'private pairs')
  for (const [name, slot] of slotsByPair(scanned)) {
    const other = slots.get(name) ?? -1
    if (other < 0) assert.unreachable(`${name} is private only in one`)
    const from = privateRowOf(scanned, slot)
    const to = privateRowOf(flattened, other)
    if (!from.every((word, i) => word === to[i])) assert.unreachable(`the row of ${name} differs`)
  }
}

function privateRowOf(segment: OpenSegment, slot: number): Uint32Array {
  const memory = rowMemory()
  const row = memory.push(8192)
  segment.privateRow(slot, row, wholePart(segment.rowBytes))
  const words = memory.u32.slice(row >>> 2, (row + segment.rowBytes) >>> 2)
  memory.pop(row)
  return words
}

/** The keys of the first positions of a column in the row memory; NaN for those that it does not have. */
export function keysOf(column: OpenColumn, documents: number): Float64Array {
  const { f64 } = rowMemory()
  const keys = new Float64Array(documents).fill(Number.NaN)
  for (const { address, position, count } of column.runs(0, documents)) {
    keys.set(f64.subarray(address >>> 3, (address >>> 3) + count), position)
  }
  return keys
}

function assertSameColumns(scanned: OpenSegment, flattened: OpenSegment): void {
  flattened.columns.all.forEach((expected, i) => {
    const column = scanned.columns.all[i]!
    const from = keysOf(column, scanned.documents)
    const to = keysOf(expected, scanned.documents)
    const { path, type } = column.spec
    const difference = from.findIndex((key, position) => !Object.is(key, to[position]))
    if (difference >= 0) assert.unreachable(`type ${type} at ${path}: ${from[difference]} and ${to[difference]}`)
    assert.equal(column.outside.words(0, 65_536), expected.outside.words(0, 65_536), `outsiders of ${path}`)
  })
}

/** Asserts that sealing them would write equal records. */
function assertSameTails(scanned: OpenSegment, flattened: OpenSegment): void {
  const room = new ScratchArena()
  const recordsOf = ({ tail, documents }: OpenSegment): ReadonlyMap<string, Buffer> => {
    const records = new Map<string, Buffer>()
    for (const write of tail.sealedWrites(0, documents, () => room)) {
      if (write !== undefined) records.set(Buffer.from(write.key).toString('hex'), Buffer.from(write.value))
    }
    return records
  }
  const [from, to] = [recordsOf(scanned), recordsOf(flattened)]
  assert.equal([...from.keys()], [...to.keys()])
  for (const [key, value] of from) if (!value.equals(to.get(key)!)) assert.unreachable(`record ${key} differs`)
  room.close()
}

function slotsByPair(segment: Segment): Map<string, number> {
  const entries = segment
    .privatePairs()
    .map(({ path, tag, key }, slot) => [JSON.stringify([path, tag, key]), slot] as const)
  return new Map(entries)
}
