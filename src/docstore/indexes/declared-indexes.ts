/**
 * The declared indexes of an open collection, and what each commit writes to them.
 *
 * Invariants:
 * 1. The list changes when no commit is prepared and none under way.
 * 2. An index is read only when its catalog entry is written.
 */

import type { Area } from '../store/layout.ts'
import { DeclaredIndex, type EntrySource } from './declared-index.ts'
import { hasSameFields, type IndexDefinition, parseFields } from './definition.ts'
import { EntryWrites, type Owners } from './entry-writes.ts'
import { IdIndex } from './id-index.ts'
import type { IndexStore } from './index-store.ts'

/** Figures of a declared index. */
export interface DeclaredIndexStats {
  readonly name: string
  readonly key: Readonly<Record<string, 1 | -1>>
  /** Some document has more than one entry. */
  readonly multikey: boolean
  /** On disk, about; undefined where the store cannot tell. */
  readonly bytes: number | undefined
}

export class DeclaredIndexes {
  readonly store: IndexStore
  /** undefined where there is no table of `_id`s. */
  readonly ids: IdIndex | undefined
  readonly #collection: string
  #indexes: readonly DeclaredIndex[]
  #ownersUnderWay: Owners | undefined

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

  /** Those that are there, and those that are being built. */
  get all(): readonly DeclaredIndex[] {
    return this.#indexes
  }

  /** Those that reads may use. */
  get ready(): readonly DeclaredIndex[] {
    return this.#indexes.filter(({ isReady }) => isReady)
  }

  /** Those by which documents expire. */
  get expiring(): readonly DeclaredIndex[] {
    return this.ready.filter(({ definition }) => definition.expireAfterSeconds !== undefined)
  }

  get isEmpty(): boolean {
    return this.#indexes.length === 0
  }

  /** By name or by key pattern. */
  find(told: unknown): DeclaredIndex | undefined {
    return this.ready.find(isTold(told))
  }

  /** As find(), that of `_id` included. */
  findReadable(told: unknown): EntrySource | undefined {
    return this.find(told) ?? (this.ids && [this.ids].find(isTold(told)))
  }

  /** For a commit that is being prepared; undefined when there is no index to write. */
  begin(): EntryWrites | undefined {
    if (this.#indexes.length === 0) return undefined
    return new EntryWrites(this.#collection, this.store, this.#indexes, this.#ownersUnderWay)
  }

  /** The commit is handed to the store: the next one, prepared meanwhile, sees what it writes. */
  started(writes: EntryWrites | undefined): void {
    this.#ownersUnderWay = writes?.owners
  }

  /** None is under way any more, whether it was applied or failed: the store tells who owns a key, and others may write there. */
  ended(): void {
    this.#ownersUnderWay = undefined
  }

  /** REQUIRES: nothing is prepared or under way. */
  add(index: DeclaredIndex): void {
    this.#indexes = [...this.#indexes, index]
  }

  /** REQUIRES: nothing is prepared or under way. */
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

function isTold(told: unknown): (index: EntrySource) => boolean {
  if (typeof told === 'string') return ({ definition }) => definition.name === told
  const fields = parseFields(told)
  return ({ definition }) => hasSameFields(definition.fields, fields)
}
