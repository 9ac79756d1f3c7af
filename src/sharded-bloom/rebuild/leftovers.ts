/**
 * The stored records of segments that no directory record names: segments being built, and segments that were replaced.
 *
 * The list of these segments is itself a record. If a crash leaves it behind, the next open deletes the segments on it.
 *
 * Invariants:
 * 1. A segment is on the stored list from before its first record is written until after its last one is deleted,
 *    unless a directory record names it.
 * 2. A segment that a directory record names is never deleted, whatever the list says.
 * 3. The list is written by one batch after the other: of two in flight, a store might apply the later one first.
 */
import { PetalError } from '../../model/errors.ts'
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

/** Key ranges, [from, to), of the records of all segments from a number on, apart from the directory records. */
export function rangesFrom(storedAt: number): (readonly [from: Uint8Array, to: Uint8Array])[] {
  return segmentAreas.map((area) => [indexKey(area, storedAt), indexRange(area)[1]])
}

export class Leftovers {
  readonly #store: IndexStore
  readonly #numbers = new Set<number>()
  /** Resolves when the list is not being written. */
  #writing: Promise<void> = Promise.resolve()

  constructor(store: IndexStore) {
    this.#store = store
  }

  /** Loads the list that the last process left. @throws PetalError IndexDamaged */
  async load(): Promise<void> {
    const bytes = await this.#store.get(indexKey(IndexArea.leftovers))
    for (const number of bytes === undefined ? [] : decodeList(bytes)) this.#numbers.add(number)
  }

  get numbers(): readonly number[] {
    return [...this.#numbers]
  }

  /** Puts a segment on the list and writes the list to the store. */
  async add(storedAt: number): Promise<void> {
    this.#numbers.add(storedAt)
    await this.#write()
  }

  /**
   * Updates the list in the batch in which `built` replace `replaced`.
   * @param write writes the batch, with this record in it
   */
  exchange(
    built: readonly number[],
    replaced: readonly number[],
    write: (list: IndexWrite) => Promise<void>
  ): Promise<void> {
    return this.#inTurn(async () => {
      for (const number of built) this.#numbers.delete(number)
      for (const number of replaced) this.#numbers.add(number)
      try {
        await write(this.#list())
      } catch (error) {
        for (const number of replaced) this.#numbers.delete(number)
        for (const number of built) this.#numbers.add(number)
        throw error
      }
    })
  }

  /** Deletes a segment's records and takes it off the list. REQUIRES: no directory record names it. */
  async clear(storedAt: number): Promise<void> {
    for (const area of segmentAreas) await this.#store.clear(...indexRange(area, storedAt))
    this.#numbers.delete(storedAt)
    await this.#write()
  }

  #write(): Promise<void> {
    return this.#inTurn(() => this.#store.write([this.#list()]))
  }

  #inTurn(write: () => Promise<void>): Promise<void> {
    const written = this.#writing.then(write)
    // Whoever wrote the list gets the error.
    this.#writing = written.catch(() => {})
    return written
  }

  #list(): IndexWrite {
    const value = this.#numbers.size === 0 ? undefined : new TextEncoder().encode(JSON.stringify(this.numbers))
    return { key: indexKey(IndexArea.leftovers), value }
  }
}

/** @throws PetalError IndexDamaged */
function decodeList(bytes: Uint8Array): readonly number[] {
  let list: unknown
  try {
    list = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    // Reported below.
  }
  if (Array.isArray(list) && list.every((number) => Number.isSafeInteger(number) && number >= 0)) return list
  throw new PetalError('IndexDamaged', "The index's list of segments to be deleted is malformed")
}
