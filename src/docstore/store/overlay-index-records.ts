/**
 * Index records of a read-only database. What the index writes to catch up with documents newer than its records stays
 * in memory, on top of the stored records.
 *
 * Invariant: a kept record, or a kept deletion, hides the stored record of the same key; a cleared range hides all
 * stored records in it, but no record kept since. Returned values belong to the caller.
 */
import { fromText, toText } from '../../model/key-text.ts'
import { nextTurn } from '../../model/time-slice.ts'
import type { IndexStore, IndexWrite } from '../../sharded-bloom/document-index.ts'
import { readTransient } from '../../sharded-bloom/records/read-transient.ts'

interface NameRange {
  readonly from: string
  readonly to: string
}

export class OverlayIndexRecords implements IndexStore {
  readonly #stored: IndexStore
  /** By key; undefined for a deleted record. */
  readonly #overlay = new Map<string, Uint8Array | undefined>()
  readonly #cleared: NameRange[] = []

  /** @param stored is only read */
  constructor(stored: IndexStore) {
    this.#stored = stored
  }

  get(key: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const name = toText(key)
    if (this.#overlay.has(name)) return this.#overlay.get(name)?.slice()
    return this.#isCleared(name) ? undefined : this.#stored.get(key)
  }

  getTransient(key: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const name = toText(key)
    if (this.#overlay.has(name)) return this.#overlay.get(name)
    if (this.#isCleared(name)) return undefined
    return readTransient(this.#stored, key)
  }

  async write(operations: readonly IndexWrite[]): Promise<void> {
    for (const { key, value } of operations) this.#overlay.set(toText(key), value?.slice())
    // Yields to the event loop as writing to disk would; sealing relies on that.
    await nextTurn()
  }

  async clear(from: Uint8Array, to: Uint8Array): Promise<void> {
    const range = { from: toText(from), to: toText(to) }
    for (const name of this.#overlay.keys()) if (isIn(range, name)) this.#overlay.delete(name)
    this.#cleared.push(range)
  }

  async *scan(from: Uint8Array, to: Uint8Array): AsyncGenerator<readonly [key: Uint8Array, value: Uint8Array]> {
    const range = { from: toText(from), to: toText(to) }
    const names = [...this.#overlay.keys()].filter((name) => isIn(range, name)).sort()
    let next = 0
    for await (const [key, value] of this.#stored.scan(from, to)) {
      const name = toText(key)
      for (; next < names.length && names[next]! < name; next++) yield* this.#overlayAt(names[next]!)
      if (!this.#overlay.has(name) && !this.#isCleared(name)) yield [key, value]
    }
    for (; next < names.length; next++) yield* this.#overlayAt(names[next]!)
  }

  *#overlayAt(name: string): Generator<readonly [key: Uint8Array, value: Uint8Array]> {
    const value = this.#overlay.get(name)
    if (value !== undefined) yield [fromText(name), value.slice()]
  }

  #isCleared(name: string): boolean {
    return this.#cleared.some((range) => isIn(range, name))
  }
}

function isIn({ from, to }: NameRange, name: string): boolean {
  return name >= from && name < to
}
