/**
 * Decodes only some fields of stored documents: finding where fields begin and end takes a quarter of the time of parsing
 * them.
 *
 * Invariants:
 * 1. The result has exactly those top-level fields of the document that were asked for, or within which something was, in
 *    the same order; so have objects in them. Everything else in it, such as an array, is whole.
 * 2. It is a JSON parser that reads them: damage within them is found as by decodeRecord().
 */
import { topLevelKey } from '../../model/path.ts'
import { objectIdMarkByte, wrappedMarkByte } from '../../model/record-marks.ts'
import type { Document } from '../../model/types.ts'
import { decodeRecord } from './record.ts'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openingBrace = 0x7b
const closingBrace = 0x7d
const dollar = 0x24
const firstPrintable = 0x20

/** What a byte may do to the nesting of a value. */
const Nesting = { none: 0, quote: 1, opens: 2, closes: 3 } as const
const nestingOf = new Uint8Array(256)
nestingOf[quote] = Nesting.quote
for (const opening of '{[') nestingOf[opening.charCodeAt(0)] = Nesting.opens
for (const closing of '}]') nestingOf[closing.charCodeAt(0)] = Nesting.closes

/** After this many documents, it is known whether picking pays. */
const sampleDocuments = 64
/** If more than this share of the bytes is wanted, parsing all of them is faster. */
const maxShare = 0.75

/** A wanted field, and what is wanted of it if it is an object; undefined: all. */
interface Wanted {
  readonly name: Uint8Array
  readonly within: Names | undefined
}

/** Wanted fields of one object, by the length of their names in UTF-8. */
type Names = readonly (readonly Wanted[] | undefined)[]

export class FieldPicker {
  readonly #names: Names
  readonly #wantsId: boolean
  /** The wanted members as JSON. */
  #picked = Buffer.alloc(1024)
  #length = 0
  #documents = 0
  #bytesSeen = 0
  #bytesPicked = 0

  /** @param paths as in a filter */
  constructor(paths: ReadonlySet<string>) {
    this.#names = namesOf([...paths].map((path) => path.split('.')))
    this.#wantsId = [...paths].some((path) => topLevelKey(path) === '_id')
  }

  /** False once it is known that decoding whole documents is faster. */
  get isWorthIt(): boolean {
    return this.#documents < sampleDocuments || this.#bytesPicked <= maxShare * this.#bytesSeen
  }

  /**
   * Decodes the wanted parts of the record in bytes[start, end).
   * @returns undefined for a record that has to be decoded as a whole: damaged, or with unusual keys
   * @throws PetalError DataCorruption
   * @example
   * const record = Buffer.from('{"_id":1,"text":"long","a":{"b":[2],"c":3}}')
   * new FieldPicker(new Set(['a.b', 'other'])).decode(record, 0, record.length) // { a: { b: [2] } }
   */
  decode(bytes: Uint8Array, start: number, end: number): Document | undefined {
    const mark = bytes[start]!
    const isMarked = mark === wrappedMarkByte || mark === objectIdMarkByte
    if (this.#picked.length < end - start + 1) this.#picked = Buffer.alloc(2 * (end - start + 1))
    this.#length = 0
    if (this.#pick(bytes, isMarked ? start + 1 : start, end, this.#names) < 0) return undefined
    this.#documents++
    this.#bytesSeen += end - start
    this.#bytesPicked += this.#length
    const json = this.#picked.toString('utf8', 0, this.#length)
    const needsMark = mark === wrappedMarkByte || (mark === objectIdMarkByte && this.#wantsId)
    return decodeRecord(needsMark ? String.fromCharCode(mark) + json : json)
  }

  /**
   * Copies the wanted members of the object at `at`, which ends before `end`.
   * @returns where it ends; −1 if it has to be read by a parser
   */
  #pick(bytes: Uint8Array, at: number, end: number, names: Names): number {
    if (bytes[at] !== openingBrace) return -1
    this.#picked[this.#length++] = openingBrace
    let isFirst = true
    let i = skipSpace(bytes, at + 1, end)
    if (bytes[i] === quote) {
      for (;;) {
        const begin = i
        // Extended JSON marks values by such keys.
        if (bytes[i] !== quote || bytes[i + 1] === dollar) return -1
        let byte: number
        do {
          byte = bytes[++i]!
          if (byte === backslash || i >= end) return -1
        } while (byte !== quote)
        const wanted = find(names, bytes, begin + 1, i)
        i = skipSpace(bytes, i + 1, end)
        if (bytes[i] !== colon) return -1
        i = skipSpace(bytes, i + 1, end)
        if (wanted === undefined) {
          i = skipValue(bytes, i, end)
        } else {
          if (!isFirst) this.#picked[this.#length++] = comma
          isFirst = false
          const isPart = wanted.within !== undefined && isObjectOfFields(bytes, i, end)
          const valueEnd = isPart ? i : skipValue(bytes, i, end)
          if (valueEnd > end) return -1
          this.#copy(bytes, begin, valueEnd)
          i = isPart ? this.#pick(bytes, i, end, wanted.within) : valueEnd
          if (i < 0) return -1
        }
        i = skipSpace(bytes, i, end)
        if (bytes[i] !== comma) break
        i = skipSpace(bytes, i + 1, end)
      }
    }
    if (bytes[i] !== closingBrace || i >= end) return -1
    this.#picked[this.#length++] = closingBrace
    return i + 1
  }

  #copy(bytes: Uint8Array, start: number, end: number): void {
    const picked = this.#picked
    let length = this.#length
    for (let i = start; i < end; i++) picked[length++] = bytes[i]!
    this.#length = length
  }
}

function namesOf(paths: readonly (readonly string[])[]): Names {
  const names: Wanted[][] = []
  for (const field of new Set(paths.map(([first]) => first!))) {
    const rests = paths.filter(([first]) => first === field).map(([, ...rest]) => rest)
    const isWhole = rests.some(({ length }) => length === 0)
    const name = Buffer.from(field)
    names[name.length] ??= []
    names[name.length]!.push({ name, within: isWhole ? undefined : namesOf(rests) })
  }
  return names
}

function find(names: Names, bytes: Uint8Array, start: number, end: number): Wanted | undefined {
  const sameLength = names[end - start]
  if (sameLength === undefined) return undefined
  for (const wanted of sameLength) {
    const { name } = wanted
    let i = 0
    while (i < name.length && bytes[start + i] === name[i]) i++
    if (i === name.length) return wanted
  }
  return undefined
}

/** False for a value of Extended JSON, which is an object with a key that begins with `$`. */
function isObjectOfFields(bytes: Uint8Array, at: number, end: number): boolean {
  if (bytes[at] !== openingBrace) return false
  const first = skipSpace(bytes, at + 1, end)
  return bytes[first] === quote && bytes[first + 1] !== dollar
}

function skipSpace(bytes: Uint8Array, at: number, end: number): number {
  let i = at
  while (i < end && bytes[i]! <= firstPrintable) i++
  return i
}

/** Returns the end of the JSON value at `at`; `end` or more if it has none. */
function skipValue(bytes: Uint8Array, at: number, end: number): number {
  let i = at
  let nesting: number = nestingOf[bytes[i]!]!
  if (nesting === Nesting.none) {
    // A number or a word.
    let byte = bytes[i]!
    while (byte !== comma && byte !== closingBrace && byte > firstPrintable && i < end) byte = bytes[++i]!
    return i
  }
  let depth = 0
  for (; i < end; nesting = nestingOf[bytes[++i]!]!) {
    if (nesting === Nesting.none) continue
    if (nesting === Nesting.quote) i = endOfString(bytes, i, end)
    else depth += nesting === Nesting.opens ? 1 : -1
    if (depth <= 0) return i + 1
  }
  return i
}

/** Returns the place of the quote that ends the string begun at `at`. */
function endOfString(bytes: Uint8Array, at: number, end: number): number {
  let i = at + 1
  for (let byte = bytes[i]; byte !== quote && i < end; byte = bytes[++i]) if (byte === backslash) i++
  return i
}
