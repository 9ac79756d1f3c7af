/** A set of values under MongoDB equality, for `$in` with many members: one hash look-up per value tested. */
import { equalValues } from '../model/compare.ts'
import { isExactDouble, toDouble } from '../model/numbers.ts'
import { formOf, toScalar } from '../model/scalar.ts'
import { type Numeric, Type, typeOf } from '../model/types.ts'
import { ContainerSet } from './container-set.ts'

export class ValueSet {
  /** Strings, booleans, null, and numbers that are exact doubles. A Set holds one NaN and one zero, as MongoDB does. */
  readonly #primitives = new Set<unknown>()
  /** Values of the other scalar types by type and key; values in one bucket may be different. */
  readonly #buckets = new Map<string, unknown[]>()
  readonly #containers = new ContainerSet()

  constructor(values: Iterable<unknown> = []) {
    for (const value of values) this.add(value)
  }

  /** Returns false when the set already contains an equal value. */
  add(value: unknown): boolean {
    if (this.has(value)) return false
    const primitive = primitiveOf(value)
    const key = primitive === undefined ? bucketKey(value) : undefined
    if (primitive !== undefined) this.#primitives.add(primitive)
    else if (key === undefined) this.#containers.add(value)
    else this.#buckets.set(key, [...(this.#buckets.get(key) ?? []), value])
    return true
  }

  /** Missing (`undefined`) counts as null. */
  has(value: unknown): boolean {
    if (typeof value === 'string' || typeof value === 'number') return this.#primitives.has(value)
    const primitive = primitiveOf(value)
    if (primitive !== undefined) return this.#primitives.has(primitive)
    const key = bucketKey(value)
    if (key === undefined) return this.#containers.has(value)
    return this.#buckets.get(key)?.some((candidate) => equalValues(candidate, value)) ?? false
  }
}

/** The primitive that all equal values share; undefined when there is none. */
export function primitiveOf(value: unknown): string | number | boolean | null | undefined {
  if (value === undefined) return null
  const type = typeOf(value)
  if (type === Type.null) return null
  if (type === Type.bool) return value as boolean
  if (type === Type.string) return String(value)
  if (type === Type.number && isExactDouble(value as Numeric)) return toDouble(value as Numeric)
  return undefined
}

/** Returns undefined for objects and arrays. */
function bucketKey(value: unknown): string | undefined {
  const scalar = toScalar(value)
  return scalar === undefined ? undefined : formOf(scalar)
}
