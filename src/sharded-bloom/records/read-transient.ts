/** Reads of records that are used at once: new memory for each would cost more than what is done with them. */
import type { IndexStore } from '../document-index.ts'

/** As IndexStore.getTransient(), of any store. */
export function readTransient(store: IndexStore, key: Uint8Array): ReturnType<IndexStore['get']> {
  return store.getTransient === undefined ? store.get(key) : store.getTransient(key)
}
