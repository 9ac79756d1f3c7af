/**
 * The records of documents that JSON holds exactly, checked and written in one walk: a caller's document is seldom in the
 * cache, and JSON.stringify makes a text of it that has to be read again to become bytes.
 *
 * Invariants:
 * 1. What is written is encodeRecord(document, true) as UTF-8, byte by byte.
 * 2. A document is refused exactly if jsonFormOf() gives it no form.
 */
import { ObjectId } from 'bson'
import type { Document } from '../../model/types.ts'
import { inheritsNothing, isPlainNumber, jsonFormOf } from '../../sharded-bloom/byte-scan/plain.ts'
import type { JsonForm } from '../../sharded-bloom/byte-scan/scanner.ts'
import { defaultFlattenLimits } from '../../sharded-bloom/pairs/flatten.ts'
import { objectIdMark } from './record.ts'

const { maxDepth } = defaultFlattenLimits
const refused = -1
/** Room that is there before a key or an element is written: for a number or a literal, and the ends of all containers. */
const slackBytes = 256
/** Longer texts, and those with more than plain ASCII, are written by JSON.stringify. */
const maxShortText = 256
const maxKeptBytes = 1 << 20
const maxKeys = 4096
const maxKeyLength = 256
/** Greater whole numbers are not written digit by digit. */
const maxWhole = 2 ** 31
/** UTF-8 bytes of a UTF-16 unit, at most. */
const maxBytesPerUnit = 3

const encoder = new TextEncoder()
const literals = { true: encoder.encode('true'), false: encoder.encode('false'), null: encoder.encode('null') } as const

/** A key as JSON has it, its colon included, and the key that followed it last. */
interface KeyText {
  readonly key: string
  readonly bytes: Uint8Array
  next: KeyText | undefined
}

export class PlainWriter {
  #bytes = new Uint8Array(1 << 14)
  readonly #keys = new Map<string, KeyText>()
  #lastKey: KeyText = { key: '', bytes: new Uint8Array(0), next: undefined }
  readonly #firstKey = this.#lastKey
  /** The last document was refused: the next one may be like it, and is looked at before it is written. */
  #isWary = false
  /** How the record written last is to be read. */
  form: JsonForm = 'json'

  /**
   * The document's record, until the next call; undefined for a document that is refused.
   * REQUIRES: its `_id` is a scalar, or an ObjectId of bson's own.
   */
  write(document: Document): Uint8Array | undefined {
    if (!inheritsNothing() || (this.#isWary && jsonFormOf(document) === undefined)) return undefined
    if (this.#bytes.length > maxKeptBytes) this.#bytes = new Uint8Array(1 << 14)
    const hasObjectId = document._id instanceof ObjectId
    this.form = hasObjectId ? 'objectId' : 'json'
    this.#lastKey = this.#firstKey
    if (hasObjectId) this.#bytes[0] = objectIdMark.charCodeAt(0)
    const end = this.#object(document, hasObjectId ? 1 : 0, 0, hasObjectId)
    this.#isWary = end === refused
    return end === refused ? undefined : this.#bytes.subarray(0, end)
  }

  // Each of these writes at `at` and returns the offset behind, or `refused`.

  #object(object: Document, start: number, depth: number, hasObjectId: boolean): number {
    const prototype: unknown = Object.getPrototypeOf(object)
    if ((prototype !== Object.prototype && prototype !== null) || depth >= maxDepth) return refused
    let at = start
    this.#reserve(at)
    this.#bytes[at++] = 0x7b
    let isFirst = true
    // Nothing is inherited.
    for (const key in object) {
      const value = object[key]
      if (key === '__proto__') return refused
      if (value === undefined) continue
      if (isFirst) isFirst = false
      else this.#bytes[at++] = 0x2c
      at = this.#key(key, at)
      if (hasObjectId && value instanceof ObjectId && key === '_id') at = this.#text(value.toHexString(), at)
      else at = this.#value(value, at, depth)
      if (at === refused) return refused
    }
    this.#bytes[at++] = 0x7d
    return at
  }

  #array(array: readonly unknown[], start: number, depth: number): number {
    if (Object.getPrototypeOf(array) !== Array.prototype || depth >= maxDepth) return refused
    let at = start
    this.#reserve(at)
    this.#bytes[at++] = 0x5b
    for (let i = 0; i < array.length; i++) {
      this.#reserve(at)
      if (i > 0) this.#bytes[at++] = 0x2c
      at = this.#value(array[i], at, depth)
      if (at === refused) return refused
    }
    this.#bytes[at++] = 0x5d
    return at
  }

  #value(value: unknown, at: number, depth: number): number {
    switch (typeof value) {
      case 'string':
        return this.#text(value, at)
      case 'number':
        return this.#number(value, at)
      case 'boolean':
        return this.#copy(value ? literals.true : literals.false, at)
      case 'object':
        if (value === null) return this.#copy(literals.null, at)
        return Array.isArray(value)
          ? this.#array(value, at, depth + 1)
          : this.#object(value as Document, at, depth + 1, false)
      default:
        return refused
    }
  }

  #key(key: string, at: number): number {
    let text = this.#lastKey.next
    if (text === undefined || text.key !== key) {
      text = this.#keyText(key)
      this.#lastKey.next = text
    }
    this.#lastKey = text
    this.#reserve(at + text.bytes.length)
    return this.#copy(text.bytes, at)
  }

  #keyText(key: string): KeyText {
    const known = this.#keys.get(key)
    if (known !== undefined) return known
    const text = { key, bytes: encoder.encode(`${JSON.stringify(key)}:`), next: undefined }
    if (key.length > maxKeyLength) return text
    if (this.#keys.size >= maxKeys) this.#keys.clear()
    this.#keys.set(key, text)
    return text
  }

  #text(text: string, start: number): number {
    const { length } = text
    if (length > maxShortText) return this.#rareText(text, start)
    this.#reserve(start + length)
    const bytes = this.#bytes
    let at = start
    bytes[at++] = 0x22
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i)
      if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return this.#rareText(text, start)
      bytes[at++] = unit
    }
    bytes[at++] = 0x22
    return at
  }

  #rareText(text: string, at: number): number {
    const json = JSON.stringify(text)
    this.#reserve(at + json.length * maxBytesPerUnit)
    return at + encoder.encodeInto(json, this.#bytes.subarray(at)).written
  }

  #number(value: number, at: number): number {
    if (value > 0 && value < maxWhole && (value | 0) === value) return this.#whole(value, at)
    if (!isPlainNumber(value)) return refused
    const text = String(value)
    for (let i = 0; i < text.length; i++) this.#bytes[at + i] = text.charCodeAt(i)
    return at + text.length
  }

  #whole(value: number, at: number): number {
    let end = at + 1
    for (let bound = 10; bound <= value; bound *= 10) end++
    const bytes = this.#bytes
    let rest = value
    for (let i = end - 1; i >= at; i--) {
      const tens = (rest / 10) | 0
      bytes[i] = 0x30 + rest - tens * 10
      rest = tens
    }
    return end
  }

  #copy(from: Uint8Array, at: number): number {
    const bytes = this.#bytes
    for (let i = 0; i < from.length; i++) bytes[at + i] = from[i]!
    return at + from.length
  }

  /** Makes room up to `end`, and for the slack behind it. */
  #reserve(end: number): void {
    if (end + slackBytes <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(end + slackBytes, 2 * this.#bytes.length))
    larger.set(this.#bytes)
    this.#bytes = larger
  }
}
