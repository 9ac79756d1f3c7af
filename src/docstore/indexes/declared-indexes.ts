/**
 * The declared indexes of an open collection, and what each commit writes to them.
 *
 * Invariants:
 * 1. The list changes only while no commit is being prepared or applied.
 * 2. An index is not read before its catalog entry is written.
 */

import type { Area } from '../store/layout.ts'
import { DeclaredIndex, type EntrySource } from './declared-index.ts'
import { hasSameFields, type IndexDefinition, parseFields } from './definition.ts'
import { EntryWrites, type Owners } from './entry-writes.ts'
import { IdIndex } from './id-index.ts'
import type { IndexStore } from './index-store.ts'

/** Statistics of a declared index. */
export interface DeclaredIndexStats {
  readonly name: string
  readonly key: Readonly<Record<string, 1 | -1>>
  /** Whether some document has more than one entry. */
  readonly multikey: boolean
  /** Approximate size on disk; undefined if the store cannot tell. */
  readonly bytes: number | undefined
}

export class DeclaredIndexes {
  readonly store: IndexStore
  /** Index over the table of `_id`s; undefined if there is no such table. */
  readonly ids: IdIndex | undefined
  readonly #collection: string
  #indexes: readonly DeclaredIndex[]
  #ownersInFlight: Owners | undefined

  private constructor(
    collection: string,
    store: IndexStore,
    idTable: Area | undefined,
    indexes: readonly DeclaredIndex[]
  ) {
    this.#collection = collection
    this.store = store
    this.ids = idTable && new IdIndex(idTable)
    this.#indexes = indexes
  }

  static async open(
    collection: string,
    store: IndexStore,
    idTable: Area | undefined,
    definitions: readonly IndexDefinition[]
  ): Promise<DeclaredIndexes> {
    const indexes: DeclaredIndex[] = []
    for (const definition of definitions) {
      const area = store.area(definition.id)
      indexes.push(new DeclaredIndex(definition, area, { isReady: true, arrays: await store.arrays(area) }))
    }
    return new DeclaredIndexes(collection, store, idTable, indexes)
  }

  /** All indexes, including those still being built. */
  get all(): readonly DeclaredIndex[] {
    return this.#indexes
  }

  /** Indexes that reads may use. */
  get ready(): readonly DeclaredIndex[] {
    return this.#indexes.filter(({ isReady }) => isReady)
  }

  /** Indexes that expire documents. */
  get expiring(): readonly DeclaredIndex[] {
    return this.ready.filter(({ definition }) => definition.expireAfterSeconds !== undefined)
  }

  get isEmpty(): boolean {
    return this.#indexes.length === 0
  }

  /** Finds an index by name or key pattern. */
  find(spec: unknown): DeclaredIndex | undefined {
    return this.ready.find(matchesSpec(spec))
  }

  /** Like find(), but includes the index over `_id`. */
  findReadable(spec: unknown): EntrySource | undefined {
    return this.find(spec) ?? (this.ids && [this.ids].find(matchesSpec(spec)))
  }

  /** Starts collecting the entries of a commit being prepared; undefined if there is no index to write. */
  begin(): EntryWrites | undefined {
    if (this.#indexes.length === 0) return undefined
    return new EntryWrites(this.#collection, this.store, this.#indexes, this.#ownersInFlight)
  }

  /** The commit was handed to the store: the next one, already being prepared, must see the entries it writes. */
  commitStarted(writes: EntryWrites | undefined): void {
    this.#ownersInFlight = writes?.owners
  }

  /**
   * No commit is being applied any more, successfully or not: from now on the owners of keys are read from the store,
   * as others may write there.
   */
  commitEnded(): void {
    this.#ownersInFlight = undefined
  }

  /** REQUIRES: no commit is being prepared or applied. */
  add(index: DeclaredIndex): void {
    this.#indexes = [...this.#indexes, index]
  }

  /** REQUIRES: no commit is being prepared or applied. */
  remove(index: DeclaredIndex): void {
    this.#indexes = this.#indexes.filter((other) => other !== index)
  }

  async stats(): Promise<readonly DeclaredIndexStats[]> {
    const stats: DeclaredIndexStats[] = []
    for (const { definition, area, arrays } of this.ready) {
      const key = Object.fromEntries(definition.fields.map(({ path, direction }) => [path, direction]))
      stats.push({ name: definition.name, key, multikey: arrays !== 0, bytes: await this.store.bytes(area) })
    }
    return stats
  }
}

function matchesSpec(spec: unknown): (index: EntrySource) => boolean {
  if (typeof spec === 'string') return ({ definition }) => definition.name === spec
  const fields = parseFields(spec)
  return ({ definition }) => hasSameFields(definition.fields, fields)
}
