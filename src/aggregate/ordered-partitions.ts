/**
 * Documents that a stage holds until all have arrived, output partition by partition, each in sort order; documents
 * with equal keys keep their order.
 *
 * Invariant: partitions are distinguished and ordered by value, as MongoDB compares them; missing counts as null.
 */
import { compareValues, equalValues } from '../model/compare.ts'
import { PetalError } from '../model/errors.ts'
import type { MemoryBudget } from '../model/memory-budget.ts'
import type { Document } from '../model/types.ts'
import { type CompiledSort, compileSort } from '../query/sort.ts'
import type { SortKey } from '../query/sort-key.ts'
import { objectOf } from './arguments.ts'
import { type StagePlace, stageError } from './errors.ts'
import type { Expression } from './expression-compile.ts'
import { HeldDocuments } from './held.ts'

export interface Ordering {
  readonly place: StagePlace
  readonly partitionOf: Expression
  readonly sort: CompiledSort
}

export interface Partition {
  readonly documents: readonly Document[]
  /** The sort keys of the documents. */
  readonly keys: readonly SortKey[]
}

type Key = readonly [partition: unknown, sort: SortKey]

export class OrderedPartitions {
  readonly #ordering: Ordering
  readonly #held: HeldDocuments<Key>

  constructor(ordering: Ordering) {
    const { place, sort } = ordering
    this.#ordering = ordering
    this.#held = new HeldDocuments(place, (a, b) => compareValues(a[0], b[0]) || sort.compareKeys(a[1], b[1]))
  }

  /** The stage's budget, for whatever else it holds, too. */
  get budget(): MemoryBudget {
    return this.#held.budget
  }

  /** @throws PetalError BadValue for a partition that is an array, QueryExceededMemoryLimit */
  add(document: Document): void {
    const { place, partitionOf, sort } = this.#ordering
    const partition = partitionOf(document)
    if (Array.isArray(partition)) throw stageError('BadValue', place, 'partitionBy must not evaluate to an array')
    this.#held.add(document, [partition, sort.keyOf(document)])
  }

  /** Yields partitions, and undefined wherever the work may be paused. */
  *inOrder(): Iterable<Partition | undefined> {
    const held = yield* this.#held.inOrder()
    let documents: Document[] = []
    let keys: SortKey[] = []
    let current: unknown
    for (const { document, key } of held) {
      const [partition, sortKey] = key
      if (documents.length > 0 && !equalValues(partition, current)) {
        yield { documents, keys }
        documents = []
        keys = []
      }
      current = partition
      documents.push(document)
      keys.push(sortKey)
      yield undefined
    }
    if (documents.length > 0) yield { documents, keys }
  }
}

/** Without a sortBy, documents keep their order. @throws PetalError naming the stage */
export function compileSortBy(sortBy: unknown, place: StagePlace): CompiledSort {
  try {
    const sort = compileSort(sortBy === undefined ? undefined : objectOf(sortBy, place))
    if (sort.natural === undefined) return sort
  } catch (error) {
    if (!(error instanceof PetalError)) throw error
    throw error.details.stage === undefined ? stageError(error.codeName, place, error.message, error) : error
  }
  throw stageError('BadValue', place, 'sortBy cannot be $natural')
}
