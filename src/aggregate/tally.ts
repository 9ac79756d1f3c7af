/** Counts documents by value: groups with counts only. */
import { estimateBytes, type MemoryBudget } from '../model/memory-budget.ts'
import type { Document } from '../model/types.ts'
import { compileFieldPath, type FieldGetter } from './field-path.ts'
import { groupBytes, stageBudget } from './group.ts'
import { type GroupKey, groupKey } from './group-key.ts'
import type { TallyRead } from './stage.ts'

interface Counted {
  readonly id: unknown
  count: number
  /** Ordinal of the first document. */
  first: number
}

export class Tally {
  readonly idOf: FieldGetter
  readonly #read: TallyRead
  readonly #groups = new Map<GroupKey, Counted>()
  readonly #budget: MemoryBudget

  constructor(read: TallyRead) {
    this.#read = read
    this.idOf = compileFieldPath(read.path.join('.'))
    this.#budget = stageBudget(read.place)
  }

  /**
   * @param id as returned by idOf() for these documents
   * @param first smallest ordinal of these documents
   */
  add(id: unknown, count: number, first: number): void {
    const key = groupKey(id)
    const group = this.#groups.get(key)
    if (group === undefined) {
      this.#budget.change(groupBytes + estimateBytes(id))
      this.#groups.set(key, { id: id ?? null, count, first })
      return
    }
    group.count += count
    group.first = Math.min(group.first, first)
  }

  /** Yields the groups in the order of their first documents. */
  *results(): Iterable<Document> {
    const groups = [...this.#groups.values()].sort((a, b) => a.first - b.first)
    for (const { id, count } of groups) yield this.#read.document(id, count)
  }
}
