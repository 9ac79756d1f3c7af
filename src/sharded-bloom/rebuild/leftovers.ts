/**
 * What is stored of segments that no directory record names: those being built, and those that others have replaced.
 *
 * The list of them is itself a record. A crash leaves it behind, and the next open deletes what it tells of.
 *
 * Invariants:
 * 1. A segment is on the stored list before the first of its records is written, and until the last one is deleted,
 *    unless a directory record names it.
 * 2. What a directory record names is never deleted, whatever the list says.
 */
import type { IndexStore, IndexWrite } from '../document-index.ts'
import { IndexArea, indexKey, indexRange } from '../records/index-keys.ts'

const segmentAreas: readonly IndexArea[] = [
  IndexArea.pairTable,
  IndexArea.hashedRows,
  IndexArea.privateRow,
  IndexArea.columnKeys,
  IndexArea.upperLevel,
  IndexArea.fingerprints,
  IndexArea.buckets,
  IndexArea.chunkRows,
  IndexArea.chunkPrivate,
  IndexArea.chunkColumns,
  IndexArea.chunkUpper,
  IndexArea.chunkFingerprints,
  IndexArea.live,
  IndexArea.positions
]

export class Leftovers {
  readonly #store: IndexStore
  readonly #numbers = new Set<number>()

  constructor(store: IndexStore) {
    this.#store = store
  }

  /** What the last process left. */
  async load(): Promise<void> {
    const bytes = await this.#store.get(indexKey(IndexArea.leftovers))
    if (bytes === undefined) return
    const numbers: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (!Array.isArray(numbers)) return
    for (const number of numbers) if (Number.isSafeInteger(number)) this.#numbers.add(number as number)
  }

  get numbers(): readonly number[] {
    return [...this.#numbers]
  }

  /** Puts a segment on the list, and the list in the store. */
  async add(storedAt: number): Promise<void> {
    this.#numbers.add(storedAt)
    await this.#store.write([this.#write()])
  }

  /**
   * The list for the batch in which `built` take the place of `replaced`.
   * @returns the write, and what takes it back should the batch fail
   */
  exchange(built: readonly number[], replaced: readonly number[]): { write: IndexWrite; undo: () => void } {
    for (const number of built) this.#numbers.delete(number)
    for (const number of replaced) this.#numbers.add(number)
    const undo = (): void => {
      for (const number of replaced) this.#numbers.delete(number)
      for (const number of built) this.#numbers.add(number)
    }
    return { write: this.#write(), undo }
  }

  /** Deletes a segment's records and takes it off the list. REQUIRES: no directory record names it. */
  async clear(storedAt: number): Promise<void> {
    for (const area of segmentAreas) await this.#store.clear(...indexRange(area, storedAt))
    this.#numbers.delete(storedAt)
    await this.#store.write([this.#write()])
  }

  #write(): IndexWrite {
    const value = this.#numbers.size === 0 ? undefined : new TextEncoder().encode(JSON.stringify(this.numbers))
    return { key: indexKey(IndexArea.leftovers), value }
  }
}
