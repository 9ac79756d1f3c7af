/**
 * The records of an index that may not write: what it writes all the same, to follow documents that were written after its
 * last records, stays in memory, in front of the records of the store.
 *
 * Invariant: what is kept, deletions included, hides the store's record of the same key; a range that was cleared hides
 * all of the store's in it, and nothing that was kept since. What is read is the reader's own.
 */
import { fromText, toText } from '../../model/key-text.ts'
import { nextTurn } from '../../model/time-slice.ts'
import type { IndexStore, IndexWrite } from '../../sharded-bloom/document-index.ts'

interface NameRange {
  readonly from: string
  readonly to: string
}

export class KeptIndexRecords implements IndexStore {
  readonly #stored: IndexStore
  /** By name; undefined where it was deleted. */
  readonly #kept = new Map<string, Uint8Array | undefined>()
  readonly #cleared: NameRange[] = []

  /** @param stored is read only */
  constructor(stored: IndexStore) {
    this.#stored = stored
  }

  get(key: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const name = toText(key)
    if (this.#kept.has(name)) return this.#kept.get(name)?.slice()
    return this.#isCleared(name) ? undefined : this.#stored.get(key)
  }

  async write(operations: readonly IndexWrite[]): Promise<void> {
    for (const { key, value } of operations) this.#kept.set(toText(key), value?.slice())
    // Whoever writes to a disk waits here, and lets others run: sealing counts on it.
    await nextTurn()
  }

  async clear(from: Uint8Array, to: Uint8Array): Promise<void> {
    const range = { from: toText(from), to: toText(to) }
    for (const name of this.#kept.keys()) if (isIn(range, name)) this.#kept.delete(name)
    this.#cleared.push(range)
  }

  async *scan(from: Uint8Array, to: Uint8Array): AsyncGenerator<readonly [key: Uint8Array, value: Uint8Array]> {
    const range = { from: toText(from), to: toText(to) }
    const names = [...this.#kept.keys()].filter((name) => isIn(range, name)).sort()
    let next = 0
    for await (const [key, value] of this.#stored.scan(from, to)) {
      const name = toText(key)
      for (; next < names.length && names[next]! < name; next++) yield* this.#keptAt(names[next]!)
      if (!this.#kept.has(name) && !this.#isCleared(name)) yield [key, value]
    }
    for (; next < names.length; next++) yield* this.#keptAt(names[next]!)
  }

  *#keptAt(name: string): Generator<readonly [key: Uint8Array, value: Uint8Array]> {
    const value = this.#kept.get(name)
    if (value !== undefined) yield [fromText(name), value.slice()]
  }

  #isCleared(name: string): boolean {
    return this.#cleared.some((range) => isIn(range, name))
  }
}

function isIn({ from, to }: NameRange, name: string): boolean {
  return name >= from && name < to
}
