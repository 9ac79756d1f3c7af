/**
 * Extracts a document's keys under given paths like MongoDB does for an index, expanding arrays. An index stores all
 * keys; a sort uses the one that sorts first.
 */
import { PetalError } from '../model/errors.ts'
import { isDigits } from '../model/path.ts'
import { type Document, isPlainObject } from '../model/types.ts'

/** One value per path. */
export type SortKey = readonly unknown[]

/** Represents an empty array in a key. */
export const emptyArray: unique symbol = Symbol('empty array')

/** The rest of a path below the current place; `at` is the number of components already taken. */
interface Cursor {
  readonly components: readonly string[]
  readonly at: number
}

/**
 * @param compareKeys decides which of a document's keys is the sort key
 * @throws (the compiled function) PetalError BadValue when two paths lead through different arrays
 */
export function compileSortKey(
  paths: readonly string[],
  compareKeys: (a: SortKey, b: SortKey) => number
): (document: Document) => SortKey {
  const cursors: readonly Cursor[] = paths.map((path) => ({ components: path.split('.'), at: 0 }))
  return (document) => {
    const values = new Array<unknown>(cursors.length).fill(null)
    if (takeWithoutArrays(document, cursors, values)) return values
    let first: SortKey | undefined
    const walk = new KeyWalk((key) => {
      if (first === undefined || compareKeys(key, first) < 0) first = key
    }, cannotSort)
    walk.expand(document, cursors, values)
    return first ?? values
  }
}

/** Every key of one document. */
export interface DocumentKeys {
  /** At least one; may contain equal ones. */
  readonly keys: readonly SortKey[]
  /** Bit i is set when path i leads to or through an array. */
  readonly arrays: number
}

/**
 * @param parallel makes the error for a document in which two paths lead through different arrays
 * @returns a function that throws that error
 */
export function compileDocumentKeys(
  paths: readonly string[],
  parallel: (path: string) => PetalError
): (document: Document) => DocumentKeys {
  const cursors: readonly Cursor[] = paths.map((path) => ({ components: path.split('.'), at: 0 }))
  return (document) => {
    const values = new Array<unknown>(cursors.length).fill(null)
    if (takeWithoutArrays(document, cursors, values)) return { keys: [values], arrays: 0 }
    const keys: SortKey[] = []
    const walk = new KeyWalk((key) => keys.push(key), parallel)
    walk.expand(document, cursors, values)
    return { keys, arrays: walk.arrays }
  }
}

/**
 * Handles the common case: no path meets an array. Otherwise returns false, with `values` unchanged or partly filled.
 */
function takeWithoutArrays(document: Document, cursors: readonly Cursor[], values: unknown[]): boolean {
  for (let i = 0; i < cursors.length; i++) {
    const { components } = cursors[i]!
    let value: unknown = document
    for (const component of components) {
      value = isPlainObject(value) && Object.hasOwn(value, component) ? value[component] : undefined
      if (Array.isArray(value)) return false
      if (value === undefined) break
    }
    values[i] = value ?? null
  }
  return true
}

class KeyWalk {
  /** Bit i is set when an array was met on path i. */
  arrays = 0
  readonly #offer: (key: SortKey) => void
  readonly #parallel: (path: string) => PetalError

  constructor(offer: (key: SortKey) => void, parallel: (path: string) => PetalError) {
    this.#offer = offer
    this.#parallel = parallel
  }

  /**
   * Completes `values` from `place`, and offers every resulting key.
   * @param cursors undefined for a path whose value has been found
   */
  expand(place: unknown, cursors: readonly (Cursor | undefined)[], values: unknown[]): void {
    let array: readonly unknown[] | undefined
    let arrayAt: Cursor | undefined
    let inArray: (Cursor | undefined)[] | undefined
    for (let i = 0; i < cursors.length; i++) {
      const cursor = cursors[i]
      if (cursor === undefined) continue
      const { value, at, isPosition } = descend(place, cursor)
      if (!Array.isArray(value) || isPosition) {
        values[i] = value ?? null
        continue
      }
      const reached = { components: cursor.components, at }
      // A computed field may hold the very array that another field holds.
      if (arrayAt !== undefined && (array !== value || !isSamePath(arrayAt, reached))) {
        throw this.#parallel(cursor.components.join('.'))
      }
      array = value
      arrayAt = reached
      this.arrays |= 1 << i
      inArray ??= new Array<Cursor | undefined>(cursors.length).fill(undefined)
      inArray[i] = reached
    }
    if (array === undefined || inArray === undefined) this.#offer(values)
    else this.#expandArray(array, inArray, values)
  }

  #expandArray(array: readonly unknown[], cursors: readonly (Cursor | undefined)[], values: readonly unknown[]): void {
    if (array.length === 0) {
      this.#offer(
        values.map((value, i) => (cursors[i] === undefined ? value : isAtEnd(cursors[i]) ? emptyArray : null))
      )
      return
    }
    const below = cursors.map((cursor) => (isAtEnd(cursor) ? undefined : cursor))
    const goesOn = below.some((cursor) => cursor !== undefined)
    for (const element of array) {
      const next = values.map((value, i) => (isAtEnd(cursors[i]) ? (element ?? null) : value))
      // Scalars and arrays directly in the array have no fields: paths below them are missing.
      if (goesOn) this.expand(isPlainObject(element) ? element : {}, below, next)
      else this.#offer(next)
    }
  }
}

interface Reached {
  readonly value: unknown
  readonly at: number
  /** Whether the path ends with a position: the value there is compared as a whole, even if it is an array. */
  readonly isPosition: boolean
}

/** Follows a path until it ends, or an array has to be expanded. */
function descend(place: unknown, { components, at }: Cursor): Reached {
  let value = place
  let isPosition = false
  while (at < components.length) {
    const component = components[at]!
    if (Array.isArray(value)) {
      if (!namesPosition(value, component)) return { value, at, isPosition: false }
      value = value[Number(component)]
      isPosition = at === components.length - 1
    } else if (isPlainObject(value) && Object.hasOwn(value, component)) {
      value = value[component]
    } else {
      return { value: undefined, at: components.length, isPosition: false }
    }
    at++
  }
  return { value, at, isPosition }
}

/** Digits are a position unless an element of the array has a field of that name. */
function namesPosition(array: readonly unknown[], component: string): boolean {
  return isDigits(component) && !array.some((element) => isPlainObject(element) && Object.hasOwn(element, component))
}

/** Whether two paths are the same up to the current places. */
function isSamePath(a: Cursor, b: Cursor): boolean {
  return a.at === b.at && a.components.slice(0, a.at).every((component, i) => component === b.components[i])
}

function isAtEnd(cursor: Cursor | undefined): boolean {
  return cursor !== undefined && cursor.at === cursor.components.length
}

function cannotSort(path: string): PetalError {
  return new PetalError('BadValue', `Cannot sort by parallel arrays: '${path}' passes through a second one`, {
    details: { path }
  })
}
