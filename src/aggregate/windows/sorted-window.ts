/**
 * Accumulators that select from a moving window, whose values are kept in sort order or in window order.
 *
 * Invariant: equal values are in window order, so the one that leaves is the first of its equals.
 */

import { countWhile } from '../../model/count-while.ts'
import { FullSort } from '../../query/sort.ts'
import type { Selection } from '../operators/group-accumulators.ts'
import type { Queue, Sliding } from './sliding.ts'

/** Up to this many new values are inserted one by one; more are sorted together with the others. */
const maxInsertions = 16

export class SlidingSelection implements Sliding {
  readonly #selection: Selection
  readonly #compare: NonNullable<Selection['compare']> | undefined
  #sorted: unknown[] = []
  /** Values added since the last sort. */
  #added: unknown[] = []

  constructor(selection: Selection) {
    this.#selection = selection
    this.#compare = selection.compare
  }

  push(value: unknown): void {
    if (value !== undefined && this.#compare !== undefined) this.#added.push(value)
  }

  shift(value: unknown): void {
    const compare = this.#compare
    if (value === undefined || compare === undefined) return
    // The pending ones are newer than all sorted ones.
    if (this.#sorted.length === 0) this.#added.shift()
    else
      this.#sorted.splice(
        this.#placeOf((other) => compare(other, value) < 0),
        1
      )
  }

  *result(window: Queue): Generator<undefined, unknown> {
    const { result } = this.#selection
    if (this.#compare === undefined)
      return result(
        [...window].filter((value) => value !== undefined),
        {}
      )
    yield* this.#sort(this.#compare)
    return result(this.#sorted, {})
  }

  *#sort(compare: NonNullable<Selection['compare']>): Generator<undefined, void> {
    const added = this.#added
    this.#added = []
    if (added.length <= maxInsertions) {
      for (const value of added)
        this.#sorted.splice(
          this.#placeOf((other) => compare(other, value) <= 0),
          0,
          value
        )
      return
    }
    const sorter = new FullSort<unknown>({
      keyOf: ({ value }) => [value],
      compareKeys: ([a], [b]) => compare(a, b)
    })
    for (const value of this.#sorted) sorter.push({ value }, value, 0)
    for (const value of added) sorter.push({ value }, value, 0)
    const steps = sorter.steps()
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) yield undefined
    this.#sorted = step.value
  }

  /** Returns the first position that is not before. */
  #placeOf(isBefore: (other: unknown) => boolean): number {
    return countWhile(this.#sorted.length, (i) => isBefore(this.#sorted[i]))
  }
}
