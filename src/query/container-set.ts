/**
 * A set of objects and arrays under MongoDB equality.
 *
 * Few of one size are compared one by one: mostly the first field tells them apart. Many are found by their keys, which are the
 * same for equal values and differ for others; values that no key can be made of, as too long or too deep, are compared
 * still, and equal none that has one.
 */
import { equalValues } from '../model/compare.ts'
import { PetalError } from '../model/errors.ts'
import { encodeKey } from '../model/key.ts'

/** Making a key costs about as much as comparing with so many. */
const maxCompared = 8

/** Makes of each byte another character. */
const decoder = new TextDecoder('latin1')

export class ContainerSet {
  readonly #bySize = new Map<string, Members>()

  /** REQUIRES: no equal value is there. */
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
  /** Those that have no key, once there are keys. */
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

/** undefined where there is none. */
function keyOf(value: unknown): string | undefined {
  try {
    return decoder.decode(encodeKey(value))
  } catch (error) {
    if (error instanceof PetalError) return undefined
    throw error
  }
}
