/**
 * Documents that a stage holds until all have arrived, and outputs in the order of a key; documents with equal keys
 * keep their order.
 */
import { estimateBytes, type MemoryBudget } from '../model/memory-budget.ts'
import type { Document } from '../model/types.ts'
import { FullSort } from '../query/sort.ts'
import type { StagePlace } from './errors.ts'
import { stageBudget } from './group.ts'

/** Overhead of a document besides its own size; the sort counts less. */
const entryBytes = 200

export interface Held<K> {
  readonly document: Document
  readonly key: K
}

export class HeldDocuments<K> {
  /** The stage's budget, for whatever else it holds, too. */
  readonly budget: MemoryBudget
  readonly #sorter: FullSort<Held<K>>

  constructor(place: StagePlace, compareKeys: (a: K, b: K) => number) {
    this.budget = stageBudget(place)
    this.#sorter = new FullSort({
      keyOf: ({ key }) => [key],
      compareKeys: ([a], [b]) => compareKeys(a as K, b as K)
    })
  }

  get length(): number {
    return this.#sorter.length
  }

  /** @throws PetalError QueryExceededMemoryLimit */
  add(document: Document, key: K): void {
    this.budget.change(estimateBytes(document) + entryBytes)
    this.#sorter.push({ key }, { document, key }, 0)
  }

  /** Yields undefined wherever the work may be paused. */
  *inOrder(): Generator<undefined, readonly Held<K>[]> {
    const steps = this.#sorter.steps()
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done === true) return step.value
      yield undefined
    }
  }
}
