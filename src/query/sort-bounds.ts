/**
 * Bounds on the position of documents in a sort: the first path of the order as expressions over pairs.
 *
 * A document's key is a value on the path, or null if there is none; for an array it is the element that sorts first,
 * which depends on the direction.
 *
 * | expression   | upper                                                                      | lower             |
 * | ------------ | -------------------------------------------------------------------------- | ----------------- |
 * | `others()`   | an array is on the path, or a value that is neither null nor of the type   | –                 |
 * | `between()`  | of all others, those whose key is of the type and between the ends         | those in a column |
 * | `nulls`      | of all others, those whose key is null                                     | whose key is null |
 *
 * Invariant: whatever a document's key is, the document is in upper of one of them.
 */
import {
  not,
  or,
  type PairExpression,
  pairOf,
  type RangeEnd,
  type RangeType,
  rangeOf,
  upperOnly
} from '../model/pairs.ts'
import { Type, type TypeCode } from '../model/types.ts'
import { prefixesOf, rootPath, typeAt, walkPath } from './indexed-path.ts'

const storedTypes = Object.values(Type).filter((type) => type !== Type.undefined && type !== Type.unsupported)

export class SortBounds {
  readonly path: string
  readonly nulls: PairExpression
  /** Arrays at the end of the path, or on the way. */
  readonly #arrays: readonly PairExpression[]

  private constructor(path: string, prefixes: readonly string[]) {
    this.path = path
    this.#arrays = [...prefixes, path].map((prefix) => typeAt(prefix, Type.array))
    this.nulls = or([not(pairOf({ kind: 'exists', path })), typeAt(path, Type.null)])
  }

  /** Returns undefined when pairs do not determine what a sort sees: digits in a path may be positions. */
  static of(sortPath: string): SortBounds | undefined {
    const path = walkPath(rootPath, sortPath.split('.'))
    return path.isPlain ? new SortBounds(path.text, prefixesOf(path)) : undefined
  }

  /** Documents that have neither null nor a single value of the type. */
  others(type: RangeType): PairExpression {
    const isOther = (other: TypeCode): boolean => other !== type && other !== Type.null && other !== Type.array
    const others = storedTypes.filter(isOther).map((other) => typeAt(this.path, other))
    return upperOnly(or([...others, ...this.#arrays]))
  }

  between(type: RangeType, low: RangeEnd | undefined, high: RangeEnd | undefined): PairExpression {
    return rangeOf({ path: this.path, type, low, high })
  }
}
