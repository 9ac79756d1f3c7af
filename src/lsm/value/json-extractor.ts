/**
 * An extractor for JSON values, whose pairs are selected fields with their values. Ready to use, and an example of an
 * extractor: a module that exports createExtractor(options).
 *
 * A field is a path of keys joined by dots. Arrays are transparent: every element counts as a value of the field. Only
 * strings, numbers, booleans and null make pairs. A value that is not JSON has none.
 */
import { createHasher } from '../../bloom/hash.ts'
import { siblingModule } from '../sibling-module.ts'
import type { Extractor, ExtractorSpec, PairSink, ZoneValue } from './extractor.ts'

/** What jsonExtractor() extracts. */
export interface JsonFields {
  /** Fields whose values can be looked up. */
  readonly fields: readonly string[]
  /** Fields whose numbers and strings get zone maps. */
  readonly zones?: readonly string[] | undefined
}

export type JsonScalar = string | number | boolean | null

/** Argument of lookup(): a field and its required value. */
export type JsonPair = readonly [field: string, value: JsonScalar]

const tags = { null: 0, boolean: 1, number: 2, string: 3 } as const

/**
 * The extractor of JSON values, for the option `values`: lookup() and rangeLookup() then find entries by their fields.
 * @param options fields are keys joined by dots; every element of an array is a value of its field
 * @example
 * const tweets = new LsmLevel('./tweets', { values: { extractor: jsonExtractor({ fields: ['user.lang'], zones: ['time'] }) } })
 * for await (const [key, value] of tweets.lookup(['user.lang', 'de'], { limit: 10 })) console.log(key, value)
 * await tweets.close()
 */
export function jsonExtractor(options: JsonFields): ExtractorSpec {
  return { module: siblingModule(import.meta.url, 'json-extractor'), name: 'petaldb.json', version: 1, options }
}

/** @throws TypeError unless options are JsonFields */
export function createExtractor(options: unknown): Extractor {
  const { fields, zones = [] } = (options ?? {}) as Partial<JsonFields>
  for (const list of [fields, zones]) {
    if (!Array.isArray(list) || list.some((field) => typeof field !== 'string')) {
      throw new TypeError('expected { fields: string[], zones?: string[] }')
    }
  }
  return new JsonExtractor(fields as readonly string[], zones)
}

interface Field {
  readonly keys: readonly string[]
  readonly seedLow: number
  readonly seedHigh: number
}

class JsonExtractor implements Extractor {
  readonly zoneFields: readonly string[]
  readonly #hasher = createHasher('murmur')
  readonly #fields: readonly Field[]
  readonly #byName: ReadonlyMap<string, Field>
  readonly #zones: readonly (readonly string[])[]

  constructor(fields: readonly string[], zones: readonly string[]) {
    this.zoneFields = zones
    this.#zones = zones.map((field) => field.split('.'))
    this.#fields = fields.map((field) => this.#fieldOf(field))
    this.#byName = new Map(fields.map((name, i) => [name, this.#fields[i]!]))
  }

  extract(
    _keyBytes: Uint8Array,
    _keyStart: number,
    _keyEnd: number,
    valueBytes: Uint8Array,
    valueStart: number,
    valueEnd: number,
    sink: PairSink
  ): void {
    const document = parse(valueBytes, valueStart, valueEnd)
    if (document === undefined) return
    for (const field of this.#fields) {
      visit(document, field.keys, 0, (value) => {
        this.#hash(field, value)
        sink.pair(this.#hasher.lo, this.#hasher.hi)
      })
    }
    this.#zones.forEach((keys, number) => {
      visit(document, keys, 0, (value) => {
        if (typeof value === 'number' || typeof value === 'string') sink.zone(number, value)
      })
    })
  }

  hash(pair: unknown, into: Int32Array): void {
    const [name, value] = checked(pair)
    const field = this.#byName.get(name)
    // Filters do not cover this field: every table would be ruled out.
    if (field === undefined) throw new TypeError(`The extractor has no field ${name}: add it to the option fields`)
    this.#hash(field, value)
    into[0] = this.#hasher.lo
    into[1] = this.#hasher.hi
  }

  matches(pair: unknown, _key: Uint8Array, value: Uint8Array): boolean {
    const [field, wanted] = checked(pair)
    if (typeof wanted === 'string' && cannotContain(value, wanted)) return false
    const document = parse(value, 0, value.length)
    let isMatch = false
    if (document !== undefined) {
      visit(document, field.split('.'), 0, (found) => {
        if (found === wanted) isMatch = true
      })
    }
    return isMatch
  }

  zoneValues(field: string, _key: Uint8Array, value: Uint8Array): readonly ZoneValue[] {
    const document = parse(value, 0, value.length)
    const values: ZoneValue[] = []
    if (document !== undefined) {
      visit(document, field.split('.'), 0, (found) => {
        if (typeof found === 'number' || typeof found === 'string') values.push(found)
      })
    }
    return values
  }

  #fieldOf(field: string): Field {
    this.#hasher.hashString(0, 0, 0, field)
    return { keys: field.split('.'), seedLow: this.#hasher.lo, seedHigh: this.#hasher.hi }
  }

  #hash({ seedLow, seedHigh }: Field, value: JsonScalar): void {
    if (typeof value === 'string') this.#hasher.hashString(seedLow, seedHigh, tags.string, value)
    else if (typeof value === 'number') this.#hasher.hashNumber(seedLow, seedHigh, tags.number, value)
    else if (value === null) this.#hasher.hashNumber(seedLow, seedHigh, tags.null, 0)
    else this.#hasher.hashNumber(seedLow, seedHigh, tags.boolean, value ? 1 : 0)
  }
}

/** Undefined unless the bytes are JSON. */
function parse(bytes: Uint8Array, start: number, end: number): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString()) as unknown
  } catch {
    // Whatever it is, it has no fields.
    return undefined
  }
}

/** Calls `found` with every scalar at the path. */
function visit(value: unknown, keys: readonly string[], depth: number, found: (value: JsonScalar) => void): void {
  if (Array.isArray(value)) {
    for (const element of value) visit(element, keys, depth, found)
    return
  }
  const key = keys[depth]
  if (key === undefined) {
    if (typeof value !== 'object' || value === null) found(value as JsonScalar)
  } else if (typeof value === 'object' && value !== null && Object.hasOwn(value, key)) {
    visit((value as Record<string, unknown>)[key], keys, depth + 1, found)
  }
}

/** Unescaped, a string occurs in the text literally: searching for its bytes is five times faster than parsing. */
function cannotContain(value: Uint8Array, wanted: string): boolean {
  // The replacement character for invalid UTF-8 does not occur in the text itself.
  if (wanted.includes('\ufffd')) return false
  const text = Buffer.from(value.buffer, value.byteOffset, value.length)
  return !text.includes(wanted) && !text.includes('\\')
}

function checked(pair: unknown): JsonPair {
  if (Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string' && isScalar(pair[1])) {
    return pair as unknown as JsonPair
  }
  throw new TypeError('A pair must be [field, value], where the value is a string, a number, a boolean or null')
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
