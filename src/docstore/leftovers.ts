/**
 * Deletes the remains of dropped or replaced collections, and of declared indexes that were dropped or whose build was
 * interrupted. The catalog lists them from before the first deletion until after the last.
 */
import { IndexStore } from './indexes/index-store.ts'
import type { Store } from './options.ts'
import type { Catalog } from './store/catalog.ts'
import type { Clearing } from './store/catalog-records.ts'
import type { CollectionStore } from './store/collection-store.ts'

export class Leftovers {
  readonly #store: Store
  readonly #catalog: Catalog
  readonly #storeOf: (number: number) => Pick<CollectionStore, 'clear'>

  constructor(store: Store, catalog: Catalog, storeOf: (number: number) => Pick<CollectionStore, 'clear'>) {
    this.#store = store
    this.#catalog = catalog
    this.#storeOf = storeOf
  }

  /** Called when a database is opened: finishes all interrupted deletions. */
  async deleteAll(): Promise<void> {
    for (const number of this.#catalog.dropped()) await this.deleteOf(number)
    await this.#clear(() => true)
  }

  /** Deletes one collection together with its declared indexes. */
  async deleteOf(number: number): Promise<void> {
    await this.#clear((clearing) => clearing.number === number)
    await this.#storeOf(number).clear()
    await this.#catalog.finishDrop(number)
  }

  async #clear(isWanted: (clearing: Clearing) => boolean): Promise<void> {
    for (const clearing of this.#catalog.clearings()) {
      if (!isWanted(clearing)) continue
      const store = new IndexStore(this.#store, clearing.number)
      await store.clear(store.area(clearing.id))
      await this.#catalog.finishClearing(clearing)
    }
  }
}
