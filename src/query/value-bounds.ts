/**
 * Which documents have which value on a path, and no other, and which may have others: expressions over pairs.
 *
 * | expression | upper                                                       | lower                                        |
 * | ---------- | ----------------------------------------------------------- | -------------------------------------------- |
 * | `only()`   | the value may be on the path                                | it is the only one, and what is asked holds  |
 * | `others()` | something is on the path that may be none of these values   | –                                            |
 *
 * Invariant: whatever values a document has on the path, it is in lower of `only()` of one of them, or in upper of `others()`.
 */
import { and, not, or, type PairExpression, pairOf, type ValuePair } from '../model/pairs.ts'
import { Type, type TypeCode } from '../model/types.ts'
import { prefixesOf, rootPath, typeAt, walkPath } from './indexed-path.ts'

/** Types of which equal keys prove equal values. */
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

  /** undefined where pairs do not tell what a path leads to: digits in it may be positions. */
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
}
