/** The encoded `_id`s of a unit in input order, in one array, and which are the smallest and the greatest. */
import { compareRanges } from '../../lsm/format/entry.ts'
import {
  numberKeyBytes,
  objectIdKeyBytes,
  textKeyBytes,
  writeAsciiKey,
  writeNumberKey,
  writeObjectIdKey
} from '../../model/key.ts'
import { isTextId, isWrappedId, leadingIdOffset, numberOfId, wrappedDigitsOffset } from '../documents/leading-id.ts'
import type { LoadedIds } from './load-unit.ts'

const firstBytes = 1 << 20
/** Longer ones are not kept. */
const maxIdleBytes = 4 << 20
/** Of a released list, kept by the thread for the next one: V8 marks a thread's heap after some megabytes of new arrays. */
let idleKeys: Uint8Array | undefined

export class IdKeys {
  #keys: Uint8Array
  #length = 0
  readonly #ends: Uint32Array
  #count = 0
  /** Positions of the smallest and greatest keys. */
  #smallest = 0
  #greatest = 0
  /** Whether each key is greater than the previous one. */
  #isAscending = true

  /** @param capacity maximum number of keys */
  constructor(capacity: number) {
    this.#ends = new Uint32Array(capacity)
    this.#keys = idleKeys ?? new Uint8Array(firstBytes)
    idleKeys = undefined
  }

  add(key: Uint8Array): void {
    this.#reserve(key.length)
    this.#keys.set(key, this.#length)
    this.#added(this.#length + key.length)
  }

  /**
   * Adds the key of the `_id` at the start of the JSON at bytes[start, …).
   * @param idEnd from endOfLeadingId()
   * @param isObjectId the `_id` is an ObjectId written as bare digits
   */
  addLeading(bytes: Uint8Array, start: number, idEnd: number, isObjectId = false): void {
    const from = start + leadingIdOffset
    this.#reserve(Math.max(numberKeyBytes, objectIdKeyBytes, idEnd - from + textKeyBytes))
    if (isObjectId || isWrappedId(bytes, from)) {
      const digits = from + (isObjectId ? 1 : wrappedDigitsOffset)
      this.#added(writeObjectIdKey(this.#keys, this.#length, bytes, digits))
      return
    }
    const end = isTextId(bytes, from)
      ? writeAsciiKey(this.#keys, this.#length, bytes, from + 1, idEnd - 1)
      : writeNumberKey(this.#keys, this.#length, numberOfId(bytes, from, idEnd))
    this.#added(end)
  }

  /** False if there are duplicates. */
  get areDistinct(): boolean {
    if (this.#isAscending) return true
    const seen = new Set<string>()
    const keys = Buffer.from(this.#keys.buffer)
    for (let i = 0; i < this.#count; i++) seen.add(keys.toString('latin1', this.#startOf(i), this.#ends[i]!))
    return seen.size === this.#count
  }

  /** REQUIRES: there is at least one key. */
  get loaded(): LoadedIds {
    return {
      smallest: this.#key(this.#smallest),
      greatest: this.#key(this.#greatest),
      keys: this.#keys.slice(0, this.#length),
      ends: this.#ends.slice(0, this.#count)
    }
  }

  /** REQUIRES: nothing is added or read afterwards. */
  release(): void {
    if (this.#keys.length <= maxIdleBytes) idleKeys = this.#keys
  }

  #added(end: number): void {
    const i = this.#count++
    this.#ends[i] = end
    this.#length = end
    if (i === 0) return
    if (this.#compare(i, this.#greatest) > 0) this.#greatest = i
    else {
      this.#isAscending = false
      if (this.#compare(i, this.#smallest) < 0) this.#smallest = i
    }
  }

  #compare(a: number, b: number): number {
    const keys = this.#keys
    return compareRanges(keys, this.#startOf(a), this.#ends[a]!, keys, this.#startOf(b), this.#ends[b]!)
  }

  #startOf(i: number): number {
    return i === 0 ? 0 : this.#ends[i - 1]!
  }

  #key(i: number): Uint8Array {
    return this.#keys.slice(this.#startOf(i), this.#ends[i]!)
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#keys.length) return
    const larger = new Uint8Array(Math.max(2 * this.#keys.length, this.#length + bytes))
    larger.set(this.#keys.subarray(0, this.#length))
    this.#keys = larger
  }
}

/** Yields the keys one after the other, as views. */
export function* keysOf({ keys, ends }: LoadedIds): Generator<Uint8Array, void, undefined> {
  let start = 0
  for (const end of ends) {
    yield keys.subarray(start, end)
    start = end
  }
}
