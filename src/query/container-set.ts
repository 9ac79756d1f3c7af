/**
 * A set of objects and arrays under MongoDB equality.
 *
 * A few members of one size are compared one by one: usually the first field tells them apart. Many are looked up by
 * keys, which are the same for equal values and differ for others. Values too long or too deep for a key are still
 * compared, and never equal one that has a key.
 */
import { equalValues } from '../model/compare.ts'
import { PetalError } from '../model/errors.ts'
import { encodeKey } from '../model/key.ts'

/** Making a key costs about as much as this many comparisons. */
const maxCompared = 8

/** Maps each byte to a different character. */
const decoder = new TextDecoder('latin1')

export class ContainerSet {
  readonly #bySize = new Map<string, Members>()

  /** REQUIRES: the set contains no equal value. */
  add(value: unknown): void {
    const size = sizeOf(value)
    const members = this.#bySize.get(size)
    if (members === undefined) this.#bySize.set(size, new Members(value))
    else members.add(value)
  }

  has(value: unknown): boolean {
    return this.#bySize.get(sizeOf(value))?.has(value) ?? false
  }
}

/** Members of one size. */
class Members {
  /** All members at first; those without a key once there are keys. */
  #compared: unknown[]
  #keys: Set<string> | undefined

  constructor(first: unknown) {
    this.#compared = [first]
  }

  add(value: unknown): void {
    if (this.#keys === undefined) {
      this.#compared.push(value)
      if (this.#compared.length > maxCompared) this.#makeKeys()
      return
    }
    const key = keyOf(value)
    if (key === undefined) this.#compared.push(value)
    else this.#keys.add(key)
  }

  has(value: unknown): boolean {
    const key = this.#keys && keyOf(value)
    if (key !== undefined) return this.#keys?.has(key) === true
    return this.#compared.some((member) => equalValues(member, value))
  }

  #makeKeys(): void {
    const members = this.#compared
    this.#compared = []
    this.#keys = new Set()
    for (const member of members) this.add(member)
  }
}

/** The same for equal values. */
function sizeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length}`
  let fields = 0
  for (const key of Object.keys(value as object)) if ((value as Record<string, unknown>)[key] !== undefined) fields++
  return `{${fields}`
}

/** Returns undefined for a value without a key. */
function keyOf(value: unknown): string | undefined {
  try {
    return decoder.decode(encodeKey(value))
  } catch (error) {
    if (error instanceof PetalError) return undefined
    throw error
  }
}
