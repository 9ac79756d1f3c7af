/**
 * Keeps a scanner's memory in step with the segment being filled, and scans documents for it, or writes them and finds
 * their pairs on the way.
 *
 * Invariant: before a document is scanned, every private pair of the segment that JSON can hold is registered, or its
 * path is not: a private pair is never taken for a hashed one.
 */
import { copyShared } from '../../model/copy-bytes.ts'
import { type Document, Type } from '../../model/types.ts'
import { Tag } from '../pairs/pair-tags.ts'
import type { ColumnSpec } from '../ranges/column-spec.ts'
import type { OpenSegment, ScannedDocument } from '../segment/open-segment.ts'
import type { HashedPair } from '../segment/private-table.ts'
import type { JsonForm } from './json-form.ts'
import { createWriter, type JsonWriter, type NotWritten } from './json-writer.ts'
import { ScannedPairs } from './scanned-pairs.ts'
import type { ScannerConstants, ScannerFunctions, ScannerModule } from './scanner-module.ts'
import { ScannerPaths, type SeedOf } from './scanner-paths.ts'

export type ScanResult =
  | 'scanned'
  /** The pairs can be determined only from the document as an object. */
  | 'refused'
  /** It has a path or a fact that the scanner may know next time, after learn(). */
  | 'unknown'

/** Types and tags that can be read from bytes. Facts and values of other types never are. */
const readTypes: ReadonlySet<number> = new Set([
  Type.null,
  Type.number,
  Type.string,
  Type.object,
  Type.array,
  Type.objectId,
  Type.bool,
  Type.date
])

const pairsPerBucket = 16

/** Bytes before a document that are copied with it. */
const maxMarkBytes = 16

const encoder = new TextEncoder()
const none: readonly string[] = []

export class Scanner implements ScannedDocument {
  readonly #functions: ScannerFunctions
  readonly #constants: ScannerConstants
  readonly #u8: Uint8Array<ArrayBuffer>
  readonly #u32: Uint32Array<ArrayBuffer>
  readonly #paths: ScannerPaths
  /** undefined when texts cannot be passed to WebAssembly at once. */
  readonly #writer: JsonWriter | undefined
  /** The record last written, if it was scanned. */
  #written: Uint8Array | undefined
  #textBytes = 0
  #segment: OpenSegment | undefined
  /** Number of the segment's pairs that are registered. */
  #registered = 0
  /** Whether the segment's private pairs are too many or too long. */
  #isRefused = false
  /** Slots of the document last scanned: the first `slotCount`, possibly with repetitions. */
  readonly slots: Int32Array
  /** Its signature, P bits. */
  signature: Uint32Array
  slotCount = 0
  hashedPairs = 0
  readonly hashes: Int32Array
  hashCount = 0
  readonly columnKeys: Float64Array
  readonly columnCounts: Uint8Array
  irregularKeys: readonly string[] = []
  /** Whether it has wrappers, and thus is not plain JSON. */
  hasWrappers = false
  /** Its values, if it was scanned for a sample. */
  readonly pairs: ScannedPairs

  constructor(module: ScannerModule, seedOf: SeedOf) {
    const { functions, constants, u8, u32 } = module
    this.#functions = functions
    this.#constants = constants
    this.#u8 = u8
    this.#u32 = u32
    this.#writer = createWriter(() => module)
    this.slots = new Int32Array(u8.buffer, constants.SLOTS, constants.MAX_SLOTS)
    this.signature = u32.subarray(0, 0)
    this.hashes = new Int32Array(u8.buffer, constants.HASHES, 2 * constants.MAX_HASHES)
    this.columnKeys = new Float64Array(u8.buffer, constants.COLUMN_KEYS, constants.MAX_COLUMNS)
    this.columnCounts = new Uint8Array(u8.buffer, constants.COLUMN_COUNTS, constants.MAX_COLUMNS)
    this.pairs = new ScannedPairs(module)
    this.#paths = new ScannerPaths(module, seedOf)
    this.pairs.rename(this.#paths.names)
  }

  /**
   * Returns the document's record, as JsonWriter.write() makes it; valid until the next call. Also scans it for the
   * segment: if the next call is scan() of the very same bytes, its result is known.
   * @param isSampled as for scan()
   * @returns undefined when there is no writer
   */
  write(segment: OpenSegment, document: Document, isSampled: boolean): Uint8Array | NotWritten | undefined {
    this.#written = undefined
    const { SCANNED, TRACED } = this.#constants
    const scans = this.#syncTo(segment)
    const written = this.#writer?.write(document, scans ? (isSampled ? SCANNED | TRACED : SCANNED) : 0)
    if (scans && typeof written === 'object') this.#written = written
    return written
  }

  /**
   * Scans a document for the segment, which does not change.
   * @param isSampled leaves its values at `pairs`, too
   */
  scan(
    segment: OpenSegment,
    bytes: Uint8Array,
    offset: number,
    length: number,
    form: JsonForm,
    isSampled = false
  ): ScanResult {
    const constants = this.#constants
    let result: number
    if (bytes === this.#written && segment === this.#segment) result = this.#functions.scannedPairs()
    else {
      if (length > constants.MAX_INPUT - maxMarkBytes || !this.#syncTo(segment)) return 'refused'
      // Creating a view costs more than copying the bytes of a mark.
      const isWhole = offset + length === bytes.length && offset <= maxMarkBytes
      this.#u8.set(isWhole ? bytes : bytes.subarray(offset, offset + length), constants.INPUT)
      const flags = this.#flagsOf(form) | (isSampled ? constants.TRACED : 0)
      result = this.#functions.scan(isWhole ? offset : 0, length, flags)
    }
    this.#written = undefined
    const outcome = this.#take(segment, result)
    if (isSampled && outcome === 'scanned') this.pairs.fill(this.#functions.tracedCount(), length)
    return outcome
  }

  /**
   * Accepts the bytes of several documents, each then scanned by scanStaged(). Returns false when they are too long.
   */
  stage(bytes: Uint8Array): boolean {
    const { INPUT, MAX_INPUT } = this.#constants
    this.#written = undefined
    if (bytes.length > MAX_INPUT) return false
    copyShared(bytes, this.#u8, INPUT)
    return true
  }

  /** As scan(), for a document among those staged last. REQUIRES: no other call in between. */
  scanStaged(segment: OpenSegment, offset: number, length: number, form: JsonForm): ScanResult {
    if (!this.#syncTo(segment)) return 'refused'
    return this.#take(segment, this.#functions.scanAmong(offset, length, this.#flagsOf(form)))
  }

  /** Takes over the results of a successful scan. */
  #take(segment: OpenSegment, result: number): ScanResult {
    if (result < 0) return result === this.#constants.UNKNOWN ? 'unknown' : 'refused'
    this.hashedPairs = result
    this.slotCount = this.#functions.slotCount()
    this.hashCount = this.#functions.hashesLeft()
    this.hasWrappers = this.#functions.hasWrappers() !== 0
    this.irregularKeys = this.#functions.isIrregular() === 0 ? none : this.#irregularKeysOf(segment)
    return 'scanned'
  }

  /** Releases the memory for another scanner. */
  close(): void {
    this.pairs.counter.evictOwner()
  }

  /** Registers paths, as far as there is room. */
  learn(paths: Iterable<string>): void {
    for (const path of paths) this.#paths.nodeOf(path)
  }

  #flagsOf(form: JsonForm): number {
    switch (form) {
      case 'json':
        return 0
      case 'objectId':
        return this.#constants.OBJECT_ID
      case 'extended':
        return this.#constants.EXTENDED_JSON
      case 'extendedObjectId':
        return this.#constants.EXTENDED_JSON | this.#constants.OBJECT_ID
      case 'wrapped':
        return this.#constants.WRAPPED
    }
  }

  /** Brings the memory up to date with the segment; returns false when that is impossible. */
  #syncTo(segment: OpenSegment): boolean {
    if (segment !== this.#segment) this.#begin(segment)
    const pairs = segment.privatePairs()
    while (!this.#isRefused && this.#registered < pairs.length) {
      const slot = this.#registered++
      this.#isRefused = !this.#register(pairs[slot]!, slot)
    }
    if (this.#isRefused) return false
    this.#functions.setHashesFacts(!segment.isShapeComplete)
    return true
  }

  #begin(segment: OpenSegment): void {
    const { SIGNATURE, MAX_PAIRS } = this.#constants
    if (this.#paths.isNearlyFull) this.#forgetPaths()
    this.#segment = segment
    this.#registered = 0
    this.#textBytes = 0
    let buckets = 1
    // Facts met later are not in the buckets: only values are.
    while (buckets * pairsPerBucket < 2 * segment.privatePairs().length) buckets *= 2
    this.#isRefused = segment.privatePairs().length > MAX_PAIRS
    if (this.#isRefused) return
    this.#functions.resetPairs(segment.shards, segment.rowsPerPair, buckets)
    this.#functions.resetFacts()
    this.signature = words(this.#u32, SIGNATURE, segment.shards / 32)
    segment.columnSpecs.forEach((spec, column) => {
      this.#addColumn(spec, column)
    })
  }

  #addColumn({ path, type, prefix, template }: ColumnSpec, column: number): void {
    const { COLUMN_PREFIXES, COLUMN_PREFIX_BYTES, COLUMN_TEMPLATES, COLUMN_TEMPLATE_BYTES } = this.#constants
    const node = this.#paths.nodeOf(path)
    if (node === 0) return
    this.#u8.set(encoder.encode(prefix), COLUMN_PREFIXES + column * COLUMN_PREFIX_BYTES)
    this.#u8.set(encoder.encode(template), COLUMN_TEMPLATES + column * COLUMN_TEMPLATE_BYTES)
    this.#functions.addColumn(node, type, column, prefix.length, template.length)
  }

  #irregularKeysOf(segment: OpenSegment): readonly string[] {
    const pairs = segment.privatePairs()
    const keys: string[] = []
    for (let i = 0; i < this.slotCount; i++) {
      const pair = pairs[this.slots[i]!]
      if (pair?.tag === Tag.irregular) keys.push(pair.path)
    }
    return keys
  }

  #forgetPaths(): void {
    this.#paths.reset()
    this.#writer?.forgetKeys()
    this.pairs.rename(this.#paths.names)
  }

  /** Returns false when there is no room. */
  #register({ path, tag, key, lo, hi }: HashedPair, slot: number): boolean {
    const isFact = tag === Tag.type || tag === Tag.exists || tag === Tag.irregular
    if (!isFact && tag !== Tag.size && !readTypes.has(tag)) return true
    const node = this.#paths.nodeOf(path)
    if (node === 0) return true
    if (tag === Tag.exists) {
      for (const type of readTypes) this.#u32[this.#factsOf(node, type) + 1] = slot
    } else if (tag === Tag.irregular) this.#u32[(node + this.#constants.IRREGULAR) >>> 2] = slot
    else if (tag === Tag.type) {
      if (readTypes.has(Number(key))) this.#u32[this.#factsOf(node, Number(key))] = slot
    } else if (typeof key === 'number') this.#functions.addDoublePair(lo, hi, node, tag, slot, key)
    else return this.#registerText(node, tag, key, lo, hi, slot)
    return true
  }

  /** Word index of the slots of TYPE and EXISTS. */
  #factsOf(node: number, type: number): number {
    const { FACTS, DATE_FACTS, DATE_FACT_BYTES, NODES, NODE_BYTES } = this.#constants
    if (type === Type.date) return (DATE_FACTS + ((node - NODES) / NODE_BYTES) * DATE_FACT_BYTES) >>> 2
    return ((node + FACTS) >>> 2) + 2 * (type & 7)
  }

  #registerText(node: number, tag: number, text: string, lo: number, hi: number, slot: number): boolean {
    const { TEXTS, MAX_TEXT_BYTES, WIDE } = this.#constants
    const isWide = !isAscii(text)
    const size = isWide ? text.length * 2 : text.length
    if (this.#textBytes + size > MAX_TEXT_BYTES) return false
    const address = TEXTS + this.#textBytes
    this.#textBytes += size
    let at = address
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      this.#u8[at++] = unit
      if (isWide) this.#u8[at++] = unit >>> 8
    }
    this.#functions.addTextPair(lo, hi, node, isWide ? tag | WIDE : tag, slot, address, text.length)
    return true
  }
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x80) return false
  return true
}

function words(u32: Uint32Array<ArrayBuffer>, address: number, count: number): Uint32Array {
  return u32.subarray(address >>> 2, (address >>> 2) + count)
}
