/** Collects the distinct values of a path, with array elements as separate values. */
import { compareValues, equalValues, type StringOrder } from '../../model/compare.ts'
import { PetalError } from '../../model/errors.ts'
import { encodeKey } from '../../model/key.ts'
import { toText } from '../../model/key-text.ts'
import { childOf, isDigits, splitPath } from '../../model/path.ts'
import { formOf, type Scalar, toScalar } from '../../model/scalar.ts'
import { type Document, describeType, isPlainObject } from '../../model/types.ts'

/** @throws PetalError BadValue for an invalid path */
export function distinctPath(path: unknown): readonly string[] {
  if (typeof path === 'string' && path !== '' && !path.startsWith('$')) return splitPath(path)
  throw new PetalError('BadValue', `distinct takes a path that does not begin with '$', got ${describe(path)}`)
}

/** Collects values that are not equal to each other, in MongoDB's sense of equality. */
export class DistinctValues {
  readonly #components: readonly string[]
  readonly #order: StringOrder | undefined
  /** Values by canonical form, so that only values that may be equal are compared. */
  readonly #buckets = new Map<string, unknown[]>()
  /** Canonical forms that stand for a single value, which was found. */
  readonly #found = new Set<string>()
  /** In the order in which they were found. */
  readonly #values: unknown[] = []

  /** @param order of strings */
  constructor(components: readonly string[], order?: StringOrder) {
    this.#components = components
    this.#order = order
  }

  /** Number of values found. */
  get size(): number {
    return this.#values.length
  }

  add(document: Document): void {
    this.#walk(document, 0)
  }

  /** Returns the values found after the first `count`. */
  foundAfter(count: number): readonly unknown[] {
    return this.#values.slice(count)
  }

  /** Adds values found by another. */
  merge(values: readonly unknown[]): void {
    for (const value of values) this.#note(value)
  }

  /** Whether the value was found. REQUIRES: it is exact */
  has(scalar: Scalar): boolean {
    return this.#found.has(formOf(scalar))
  }

  /** Returns the values in MongoDB's order; of strings equal under a collation, the first found. */
  toArray(): unknown[] {
    const order = this.#order
    const values = [...this.#values].sort((a, b) => compareValues(a, b, order))
    if (order === undefined) return values
    return values.filter((value, i) => i === 0 || compareValues(values[i - 1], value, order) !== 0)
  }

  #walk(value: unknown, at: number): void {
    if (at === this.#components.length) {
      if (Array.isArray(value)) for (const element of value) this.#note(element)
      else this.#note(value)
      return
    }
    const component = this.#components[at] as string
    if (isPlainObject(value)) {
      if (Object.hasOwn(value, component)) this.#walk(value[component], at + 1)
      return
    }
    if (!Array.isArray(value)) return
    if (isDigits(component)) {
      // Unlike in a filter, digits are always a position here, never a key of the elements.
      const element = childOf(value, component)
      if (element !== undefined) this.#walk(element, at + 1)
      return
    }
    for (const element of value) if (isPlainObject(element)) this.#walk(element, at)
  }

  #note(value: unknown): void {
    const scalar = toScalar(value)
    const form = scalar === undefined ? compoundForm(value) : formOf(scalar)
    if (scalar?.exact === true) this.#found.add(form)
    const bucket = this.#buckets.get(form)
    if (bucket === undefined) this.#buckets.set(form, [value])
    else if (bucket.some((other) => equalValues(other, value))) return
    else bucket.push(value)
    this.#values.push(value)
  }
}

/** Returns what collects the values that documents of a part add to those found before. */
export function newValues(values: DistinctValues): { add(document: Document): void; partial(): readonly unknown[] } {
  const before = values.size
  return { add: (document) => values.add(document), partial: () => values.foundAfter(before) }
}

function compoundForm(value: unknown): string {
  try {
    return toText(encodeKey(value))
  } catch (error) {
    // Too large or too deep for a key: such values are few, and are compared pairwise.
    if (error instanceof PetalError) return 'compound'
    throw error
  }
}

function describe(path: unknown): string {
  return typeof path === 'string' ? `'${path}'` : describeType(path)
}
