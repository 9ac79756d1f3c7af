/**
 * The non-blank lines of a unit, and what is in them. Whether they are UTF-8 is checked by whoever reads them first: by
 * item(), or by the scanner, which accepts nothing else.
 */
import { isUtf8 } from 'node:buffer'
import { PetalError } from '../../model/errors.ts'
import type { Document } from '../../model/types.ts'
import type { JsonForm } from '../../sharded-bloom/byte-scan/json-form.ts'
import { onlyObject, type StoredDocument, type StoredRun } from '../../sharded-bloom/stored-source.ts'
import { JsonRecord, readRecord } from '../documents/json-record.ts'
import { endOfLeadingId, isOnlyIdWrapped } from '../documents/leading-id.ts'
import { formOfRecord, markBytesOf } from '../documents/record.ts'
import { ensureId, storedForm } from '../documents/stored-form.ts'
import { isBlank, maxLineBytes, readItem } from '../import/read-line.ts'
import type { LineKind, LoadUnit } from './load-unit.ts'

const carriageReturn = 0x0d
/**
 * Lines placed per call: a function that is called often gets compiled, and their bytes stay in the processor's caches
 * between the two looks at them.
 */
const linesAtOnce = 256
/** Of released lines, kept by the thread for the next unit's. */
let idlePlaces: Uint32Array = new Uint32Array(0)
/** Documents passed to a sampler at once. */
const runDocuments = 64

export class UnitLines {
  /** Bytes of all lines. */
  readonly bytes: Uint8Array
  readonly kind: LineKind
  readonly #firstOrdinal: number
  /** Start and end of each line in `bytes`, without its line end, alternating. */
  readonly places: Uint32Array
  #count = 0

  private constructor({ bytes, kind, ends }: LoadUnit, firstOrdinal: number) {
    this.bytes = bytes
    this.kind = kind
    this.#firstOrdinal = firstOrdinal
    this.places = idlePlaces.length >= 2 * ends.length ? idlePlaces : new Uint32Array(2 * ends.length)
    idlePlaces = new Uint32Array(0)
  }

  /**
   * @param firstOrdinal of the first line that is not blank
   * @returns undefined if there is none, or the unit cannot be built: a line, possibly blank, is longer than an import
   *   allows
   */
  static of(unit: LoadUnit, firstOrdinal: number): UnitLines | undefined {
    const lines = new UnitLines(unit, firstOrdinal)
    for (let from = 0; from < unit.ends.length; from += linesAtOnce) {
      if (!lines.#place(unit.ends, from, Math.min(from + linesAtOnce, unit.ends.length))) return undefined
    }
    return lines.count > 0 ? lines : undefined
  }

  get count(): number {
    return this.#count
  }

  /** REQUIRES: the lines are not read afterwards. */
  release(): void {
    idlePlaces = this.places
  }

  /** @throws PetalError for a line that contains no document, or is not UTF-8 */
  item(i: number): JsonRecord | Document {
    const line = this.line(i)
    if (this.kind === 'record') return readRecord(line)
    if (!isUtf8(line)) throw new PetalError('FailedToParse', 'not valid UTF-8')
    const item = readItem(line)
    if (item instanceof JsonRecord) return item
    ensureId(item)
    return storedForm(item)
  }

  /** The bytes of a line. */
  line(i: number): Uint8Array {
    const start = this.places[2 * i]!
    const { buffer, byteOffset } = this.bytes
    return new Uint8Array(buffer, byteOffset + start, this.places[2 * i + 1]! - start)
  }

  /** How the JSON of a line has to be read; undefined for an invalid record. */
  form(i: number): JsonForm | undefined {
    return this.kind === 'line' ? 'extended' : formOfRecord(this.bytes, this.places[2 * i]!)
  }

  /** End of the `_id` at the start of a line's JSON; −1 if it cannot be read from the bytes as they are. */
  endOfId(i: number): number {
    const form = this.form(i)
    if (form === undefined) return -1
    const { bytes } = this
    const start = this.places[2 * i]! + markBytesOf(form)
    const end = this.places[2 * i + 1]!
    const idEnd = endOfLeadingId(bytes, start, end, form === 'wrapped' || form === 'extended')
    if (idEnd < 0 || form !== 'extended') return idEnd
    return isOnlyIdWrapped(bytes, start, idEnd, end) ? -1 : idEnd
  }

  /** Yields documents for a sampler. */
  async *stored(from: number, to: number): AsyncGenerator<StoredRun> {
    for (let begin = from; begin < to; begin += runDocuments) {
      const run: StoredDocument[] = []
      for (let ordinal = begin; ordinal < Math.min(begin + runDocuments, to); ordinal++) run.push(this.#stored(ordinal))
      yield run
    }
  }

  /** Places lines from `from` to before `to`. @returns false if the unit cannot be built */
  #place(ends: Uint32Array, from: number, to: number): boolean {
    const { bytes, places } = this
    let start = from === 0 ? 0 : ends[from - 1]!
    let count = this.#count
    for (let i = from; i < to; i++) {
      const feed = ends[i]! - 1
      if (feed - start > maxLineBytes) return false
      const end = feed > start && bytes[feed - 1] === carriageReturn ? feed - 1 : feed
      if (!isBlank(bytes, start, end)) {
        places[2 * count] = start
        places[2 * count++ + 1] = end
      }
      start = feed + 1
    }
    this.#count = count
    return true
  }

  #stored(ordinal: number): StoredDocument {
    const item = this.item(ordinal - this.#firstOrdinal)
    if (!(item instanceof JsonRecord)) return onlyObject(ordinal, () => item)
    const { bytes, start, form } = item
    return { ordinal, bytes, start, length: bytes.length - start, form, document: () => item.parse() }
  }
}
