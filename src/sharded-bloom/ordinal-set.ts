import { countWhile } from '../model/count-while.ts'

/** An immutable set of ordinals, for example of those that a view hides. */
export class OrdinalSet implements Iterable<number> {
  static readonly empty = new OrdinalSet([])

  /** Ascending. */
  readonly #ordinals: readonly number[]

  private constructor(ordinals: readonly number[]) {
    this.#ordinals = ordinals
  }

  get size(): number {
    return this.#ordinals.length
  }

  has(ordinal: number): boolean {
    return this.size > 0 && this.#ordinals[this.#firstFrom(ordinal)] === ordinal
  }

  /** Returns the ordinals from ≤ o < to. */
  within(from: number, to: number): readonly number[] {
    return this.size === 0 ? this.#ordinals : this.#ordinals.slice(this.#firstFrom(from), this.#firstFrom(to))
  }

  /** Returns the set together with these, which may be in any order. */
  with(more: Iterable<number>): OrdinalSet {
    const added = [...new Set(more)].filter((ordinal) => !this.has(ordinal)).sort((a, b) => a - b)
    return added.length === 0 ? this : new OrdinalSet(merge(this.#ordinals, added))
  }

  /** Ascending. */
  [Symbol.iterator](): Iterator<number> {
    return this.#ordinals[Symbol.iterator]()
  }

  /** Index of the first ordinal that is not below this one. */
  #firstFrom(ordinal: number): number {
    return countWhile(this.#ordinals.length, (i) => this.#ordinals[i]! < ordinal)
  }
}

/** @param a and b: ascending, and disjoint */
function merge(a: readonly number[], b: readonly number[]): number[] {
  const merged: number[] = []
  let next = 0
  for (const ordinal of a) {
    while (next < b.length && b[next]! < ordinal) merged.push(b[next++]!)
    merged.push(ordinal)
  }
  while (next < b.length) merged.push(b[next++]!)
  return merged
}
