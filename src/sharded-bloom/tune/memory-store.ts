/** In-memory records of a temporary index. */
import { fromText, toText } from '../../model/key-text.ts'
import { nextTurn } from '../../model/time-slice.ts'
import type { IndexStore, IndexWrite } from '../document-index.ts'

export class MemoryStore implements IndexStore {
  readonly #records = new Map<string, Uint8Array>()

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#records.get(toText(key))
  }

  async write(operations: readonly IndexWrite[]): Promise<void> {
    for (const { key, value } of operations) {
      if (value === undefined) this.#records.delete(toText(key))
      else this.#records.set(toText(key), value.slice())
    }
    // Yields to the event loop, as a write to disk would: sealing relies on it.
    await nextTurn()
  }

  async clear(from: Uint8Array, to: Uint8Array): Promise<void> {
    const [first, end] = [toText(from), toText(to)]
    for (const name of [...this.#records.keys()]) if (name >= first && name < end) this.#records.delete(name)
  }

  async *scan(from: Uint8Array, to: Uint8Array): AsyncGenerator<readonly [key: Uint8Array, value: Uint8Array]> {
    const [first, end] = [toText(from), toText(to)]
    for (const name of [...this.#records.keys()].sort()) {
      const value = this.#records.get(name)
      if (value !== undefined && name >= first && name < end) yield [fromText(name), value]
    }
  }
}
