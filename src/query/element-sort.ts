/**
 * Sorts an array's elements by their fields, for `$push` with `$sort`, and `$sortArray`. This order differs from that
 * of a find's sort: an array at the end of a path is compared as a whole, and one on the way only has positions.
 */
import { compareValues, type StringOrder } from '../model/compare.ts'
import { childOf } from '../model/path.ts'
import { type Document, isPlainObject, Type, typeOf } from '../model/types.ts'
import { compileSort, directionOf, type SortField } from './sort.ts'

interface ElementSortOptions {
  /** For a collation. */
  readonly strings?: StringOrder | undefined
  /** Called for each element whose key is read, and each comparison; an error that it throws ends the sort. */
  readonly onStep?: () => void
}

export type ElementSort = (elements: readonly unknown[]) => unknown[]

/**
 * @returns undefined for `$natural`
 * @throws PetalError as compileSort()
 */
export function compileElementSort(
  spec: Document,
  { strings, onStep }: ElementSortOptions = {}
): ElementSort | undefined {
  const { keys, natural } = compileSort(spec, strings)
  if (natural !== undefined) return undefined
  const compare = (a: readonly unknown[], b: readonly unknown[]): number => {
    onStep?.()
    for (const [i, { direction }] of keys.entries()) {
      const difference = compareValues(a[i], b[i], strings)
      if (difference !== 0) return direction * difference
    }
    return 0
  }
  return (elements) =>
    elements
      .map((element) => {
        onStep?.()
        return { element, key: keys.map((field) => keyOf(element, field)) }
      })
      .sort((a, b) => compare(a.key, b.key))
      .map(({ element }) => element)
}

/** Returns the direction of 1 or -1, of any numeric type, which sorts whole elements; undefined for anything else. */
export function wholeElementDirection(spec: unknown): 1 | -1 | undefined {
  return typeOf(spec) === Type.number ? directionOf(spec) : undefined
}

/** null for an element that is not a document, or has no such value. */
function keyOf(element: unknown, { path }: SortField): unknown {
  return isPlainObject(element) ? (valueAt(element, path) ?? null) : null
}

/** A key that itself contains the dots takes precedence over the path. */
function valueAt(value: unknown, path: string): unknown {
  const found = childOf(value, path)
  const dot = path.indexOf('.')
  if (found !== undefined || dot < 0) return found
  return valueAt(childOf(value, path.slice(0, dot)), path.slice(dot + 1))
}
