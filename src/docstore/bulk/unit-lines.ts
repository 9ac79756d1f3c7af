/** Finds the non-blank lines of a unit, and parses them. */
import type { Document } from '../../model/types.ts'
import type { JsonForm } from '../../sharded-bloom/byte-scan/json-form.ts'
import type { StoredDocument } from '../../sharded-bloom/stored-source.ts'
import { JsonRecord, readRecord } from '../documents/json-record.ts'
import { endOfLeadingId, isOnlyIdWrapped } from '../documents/leading-id.ts'
import { formOfRecord, markBytesOf } from '../documents/record.ts'
import { ensureId, storedForm } from '../documents/stored-form.ts'
import { isBlank, maxLineBytes, readItem } from '../import/read-line.ts'
import type { LineKind } from './load-unit.ts'

const lineFeed = 0x0a
const carriageReturn = 0x0d
const usualLines = 65_536
/** Lines found per call, since a function that is called often gets compiled once. */
const linesAtOnce = 256
/** Documents passed to a sampler at once. */
const runDocuments = 64

export class UnitLines {
  /** Bytes of all lines. */
  readonly bytes: Uint8Array
  readonly kind: LineKind
  readonly #buffer: Buffer
  readonly #firstOrdinal: number
  /** Start and end of each line, alternating. */
  #places = new Uint32Array(2 * usualLines)
  #count = 0
  /** A line, possibly blank, is longer than the import allows. */
  hasTooLongLine = false

  /** @param bytes UTF-8; the last one ends a line */
  constructor(bytes: Buffer, kind: LineKind, firstOrdinal: number) {
    this.kind = kind
    this.#buffer = bytes
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#firstOrdinal = firstOrdinal
    for (let start = 0; start < bytes.length; ) start = this.#findLines(start)
  }

  get count(): number {
    return this.#count
  }

  /** Start and end of each line in `bytes`, alternating. */
  get places(): Uint32Array {
    return this.#places
  }

  /** @throws PetalError for a line that contains no document */
  item(i: number): JsonRecord | Document {
    const line = this.line(i)
    if (this.kind === 'record') return readRecord(line)
    const item = readItem(line)
    if (item instanceof JsonRecord) return item
    ensureId(item)
    return storedForm(item)
  }

  /** The bytes of a line. */
  line(i: number): Uint8Array {
    const start = this.#places[2 * i]!
    const { buffer, byteOffset } = this.bytes
    return new Uint8Array(buffer, byteOffset + start, this.#places[2 * i + 1]! - start)
  }

  /** How the JSON of a line has to be read; undefined for an invalid record. */
  form(i: number): JsonForm | undefined {
    return this.kind === 'line' ? 'extended' : formOfRecord(this.bytes, this.#places[2 * i]!)
  }

  /** End of the `_id` at the start of a line's JSON; −1 if it cannot be read from the bytes as they are. */
  endOfId(i: number): number {
    const form = this.form(i)
    if (form === undefined) return -1
    const { bytes } = this
    const start = this.#places[2 * i]! + markBytesOf(form)
    const end = this.#places[2 * i + 1]!
    const idEnd = endOfLeadingId(bytes, start, end, form === 'wrapped' || form === 'extended')
    if (idEnd < 0 || form !== 'extended') return idEnd
    return isOnlyIdWrapped(bytes, start, idEnd, end) ? -1 : idEnd
  }

  /** Yields documents for a sampler. */
  async *stored(from: number, to: number): AsyncGenerator<readonly StoredDocument[]> {
    for (let begin = from; begin < to; begin += runDocuments) {
      const run: StoredDocument[] = []
      for (let ordinal = begin; ordinal < Math.min(begin + runDocuments, to); ordinal++) run.push(this.#stored(ordinal))
      yield run
    }
  }

  /** @returns start of the remaining lines */
  #findLines(from: number): number {
    const bytes = this.#buffer
    const places = this.#room()
    let start = from
    let count = this.#count
    for (const limit = count + linesAtOnce; count < limit && start < bytes.length; ) {
      const end = bytes.indexOf(lineFeed, start)
      if (end < 0) throw new RangeError('A unit ends in the middle of a line')
      if (end - start > maxLineBytes) this.hasTooLongLine = true
      const to = end > start && bytes[end - 1] === carriageReturn ? end - 1 : end
      if (!isBlank(bytes, start, to)) {
        places[2 * count] = start
        places[2 * count++ + 1] = to
      }
      start = end + 1
    }
    this.#count = count
    return start
  }

  /** Returns the places, with room for more. */
  #room(): Uint32Array {
    const needed = 2 * (this.#count + linesAtOnce)
    if (needed > this.#places.length) {
      const larger = new Uint32Array(2 * needed)
      larger.set(this.#places)
      this.#places = larger
    }
    return this.#places
  }

  #stored(ordinal: number): StoredDocument {
    const item = this.item(ordinal - this.#firstOrdinal)
    if (!(item instanceof JsonRecord)) return { ordinal, json: undefined, document: () => item }
    const { bytes, start, form } = item
    return { ordinal, json: start === 0 ? bytes : bytes.subarray(start), form, document: () => item.parse() }
  }
}
