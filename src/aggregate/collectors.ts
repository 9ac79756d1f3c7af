/** Stages that hold documents until all have arrived: `$sort`, `$sample`, `$count`. */
import { estimateBytes, type MemoryBudget } from '../model/memory-budget.ts'
import type { Document } from '../model/types.ts'
import { type CompiledSort, FullSort, TopK } from '../query/sort.ts'
import type { StagePlace } from './errors.ts'
import { stageBudget } from './group.ts'
import type { Collector, PartialCollector } from './stage.ts'

/** A part has up to as many documents of its own, which takes long to pass between threads. */
const maxPerPart = 128

export class Sorter implements PartialCollector {
  readonly #sorter: FullSort | TopK
  readonly #limit: number

  /** @param limit number of leading documents wanted; Infinity for all */
  constructor(sort: CompiledSort, limit: number) {
    this.#sorter = Number.isFinite(limit) ? new TopK(sort, limit) : new FullSort(sort)
    this.#limit = limit
  }

  get canDivide(): boolean {
    return this.#limit <= maxPerPart
  }

  get size(): number {
    return this.#sorter.length
  }

  add(document: Document): void {
    this.#sorter.push(document)
  }

  /** The first documents, in order. */
  partial(): readonly Document[] {
    return this.#sorter.toArray()
  }

  merge(partial: unknown): void {
    for (const document of partial as readonly Document[]) this.add(document)
  }

  *results(): Iterable<Document | undefined> {
    const steps = this.#sorter.steps()
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done === true) {
        yield* step.value
        return
      }
      yield undefined
    }
  }
}

/** Reservoir sampling: a uniform random sample without repetition. */
export class Sample implements Collector {
  readonly #size: number
  readonly #budget: MemoryBudget
  readonly #chosen: Document[] = []
  #seen = 0

  constructor(size: number, place: StagePlace) {
    this.#size = size
    this.#budget = stageBudget(place)
  }

  add(document: Document): void {
    this.#seen++
    if (this.#chosen.length < this.#size) {
      this.#budget.change(estimateBytes(document))
      this.#chosen.push(document)
      return
    }
    const place = Math.floor(Math.random() * this.#seen)
    if (place < this.#size) this.#chosen[place] = document
  }

  /** Shuffled, because the reservoir preserves the order of arrival. */
  *results(): Iterable<Document> {
    for (let left = this.#chosen.length; left > 0; left--) {
      const i = Math.floor(Math.random() * left)
      const document = this.#chosen[i] as Document
      this.#chosen[i] = this.#chosen[left - 1] as Document
      yield document
    }
  }
}

/** Yields one document with the count, or none if the count is 0. */
export class Counter implements PartialCollector {
  readonly canDivide = true
  readonly #field: string
  #count = 0

  constructor(field: string) {
    this.#field = field
  }

  get size(): number {
    return 1
  }

  add(): void {
    this.#count++
  }

  partial(): number {
    return this.#count
  }

  merge(partial: unknown): void {
    this.#count += partial as number
  }

  *results(): Iterable<Document> {
    if (this.#count > 0) yield { [this.#field]: this.#count }
  }
}
