/**
 * Expressions over pairs for the documents that have a value and no other on a path, and for those that may have
 * others.
 *
 * | expression  | upper                                                     | lower                                    |
 * | ----------- | --------------------------------------------------------- | ---------------------------------------- |
 * | `only()`    | the value may be on the path                              | it is the only one, and the filter holds |
 * | `others()`  | something is on the path that may be none of these values | –                                        |
 * | `nothing()` | nothing may be on the path                                | nothing is, and the filter holds         |
 *
 * Invariant: a document for which the filter certainly holds is either in lower of `only()` of its value, or of
 * `nothing()`, or in upper of `uncounted()` of these values, but not in both. If it has a value that is none of these,
 * it is in upper of `others()`.
 */
import { and, not, or, type PairExpression, pairOf, type ValuePair } from '../model/pairs.ts'
import { Type, type TypeCode } from '../model/types.ts'
import { prefixesOf, rootPath, typeAt, walkPath } from './indexed-path.ts'

/** Types for which equal keys prove equal values. */
const provenTypes: ReadonlySet<TypeCode> = new Set([
  Type.null,
  Type.number,
  Type.string,
  Type.objectId,
  Type.bool,
  Type.date
])

export class ValueBounds {
  readonly path: string
  readonly #exists: PairExpression
  /** An array is on the path, or on the way: there may be several values. */
  readonly #several: PairExpression

  private constructor(path: string, prefixes: readonly string[]) {
    this.path = path
    this.#exists = pairOf({ kind: 'exists', path })
    this.#several = or([...prefixes, path].map((prefix) => typeAt(prefix, Type.array)))
  }

  /** Returns undefined when pairs do not determine the values on a path: digits in it may be positions. */
  static of(components: readonly string[]): ValueBounds | undefined {
    const path = walkPath(rootPath, components)
    return path.isPlain ? new ValueBounds(path.text, prefixesOf(path)) : undefined
  }

  /** Whether the pair proves the value. */
  proves({ value }: ValuePair): boolean {
    return provenTypes.has(value.type)
  }

  only(filter: PairExpression, value: ValuePair): PairExpression {
    return and([filter, pairOf(value), not(this.#several)])
  }

  others(filter: PairExpression, values: readonly ValuePair[]): PairExpression {
    return and([filter, this.#exists, or([not(or(values.map(pairOf))), this.#several])])
  }

  nothing(filter: PairExpression): PairExpression {
    return and([filter, not(this.#exists), not(this.#several)])
  }

  /** As others(), whatever is on the path. @param isNothingKnown excludes the documents of `nothing()`, all certain */
  uncounted(filter: PairExpression, values: readonly ValuePair[], isNothingKnown: boolean): PairExpression {
    const noneOf = not(or(values.map(pairOf)))
    return and([filter, or([this.#several, isNothingKnown ? and([this.#exists, noneOf]) : noneOf])])
  }
}
