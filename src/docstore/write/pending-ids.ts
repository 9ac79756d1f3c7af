/**
 * Encoded `_id`s of documents that are prepared but not yet in the store.
 *
 * Most imports have ascending ids and never look one up, so the set is built on the first lookup.
 */
import { toText } from '../../model/key-text.ts'

export class PendingIds {
  readonly #keys: Uint8Array[] = []
  #texts: Set<string> | undefined

  add(key: Uint8Array): void {
    this.#keys.push(key)
    this.#texts?.add(toText(key))
  }

  has(key: Uint8Array): boolean {
    this.#texts ??= new Set(this.#keys.map(toText))
    return this.#texts.has(toText(key))
  }
}
