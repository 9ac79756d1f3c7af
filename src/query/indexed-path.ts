/**
 * Converts query paths to index paths, and values to the pairs that they must leave on a path.
 *
 * The index drops array positions and all-digit keys (model/path.ts); this module determines when a pair therefore
 * means less than the query requires.
 */
import { type PairExpression, pairOf, unknown } from '../model/pairs.ts'
import { isDigits } from '../model/path.ts'
import { type Scalar, toScalar } from '../model/scalar.ts'
import { type Document, isPlainObject, Type, type TypeCode } from '../model/types.ts'

export interface IndexedPath {
  /** Components without the all-digit ones. */
  readonly components: readonly string[]
  /** The index path. */
  readonly text: string
  /** True when no component was dropped or is empty, so that pairs on the path mean what the query means. */
  readonly isPlain: boolean
}

export const rootPath: IndexedPath = { components: [], text: '', isPlain: true }

/** Extends a path by further components of a query. */
export function walkPath(from: IndexedPath, components: readonly string[]): IndexedPath {
  const kept = [...from.components, ...components.filter((component) => !isDigits(component))]
  const isPlain = from.isPlain && components.every((component) => component !== '' && !isDigits(component))
  return { components: kept, text: kept.join('.'), isPlain }
}

/** Index paths of all proper prefixes, shortest first. */
export function prefixesOf(path: IndexedPath): readonly string[] {
  return path.components.slice(1).map((_, i) => path.components.slice(0, i + 1).join('.'))
}

export function valueAt(path: string, value: Scalar): PairExpression {
  return pairOf({ kind: 'value', path, value })
}

export function typeAt(path: string, type: TypeCode): PairExpression {
  return pairOf({ kind: 'type', path, type })
}

export function sizeAt(path: string, length: number): PairExpression {
  return pairOf({ kind: 'size', path, length })
}

/** More pairs would cost more rows than they exclude candidates. */
const maxPairsOfValue = 32

/**
 * Returns pairs of every document that holds the object or array on the path, as its value or as an element. Not all
 * such pairs: order, positions and nesting are left to the matcher.
 */
export function pairsOfValue(path: IndexedPath, value: unknown): readonly PairExpression[] {
  const pairs: PairExpression[] = []
  collect(path, value, pairs)
  return pairs.length > 0 ? pairs : [unknown]
}

function collect(path: IndexedPath, value: unknown, pairs: PairExpression[]): void {
  const scalar = toScalar(value)
  if (scalar !== undefined) add(path, (text) => valueAt(text, scalar), pairs)
  else if (Array.isArray(value)) {
    add(path, (text) => typeAt(text, Type.array), pairs)
    add(path, (text) => sizeAt(text, value.length), pairs)
    for (const element of value) collect(path, element, pairs)
  } else if (isPlainObject(value)) {
    add(path, (text) => typeAt(text, Type.object), pairs)
    for (const key of Object.keys(value)) collectField(path, key, value, pairs)
  }
}

function collectField(path: IndexedPath, key: string, object: Document, pairs: PairExpression[]): void {
  // A key with a dot is one key in the document, but several components of a path.
  if (!key.includes('.')) collect(walkPath(path, [key]), object[key], pairs)
}

function add(path: IndexedPath, pair: (text: string) => PairExpression, pairs: PairExpression[]): void {
  if (path.text !== '' && pairs.length < maxPairsOfValue) pairs.push(pair(path.text))
}
