/**
 * The stored header and the damage of an index. Damage found while reading is recorded in the header, so that the next
 * open rebuilds the index.
 */
import type { HashName } from '../../bloom/hash.ts'
import { PetalError } from '../../model/errors.ts'
import type { IndexStore } from '../document-index.ts'
import {
  createHeader,
  encodeHeader,
  type IndexHeader,
  type IndexSeed,
  type IndexShape,
  indexFormat
} from './index-header.ts'
import { IndexArea, indexKey } from './index-keys.ts'

export class HeaderRecord {
  readonly #store: IndexStore
  readonly #onDamage: ((message: string) => void) | undefined
  #header: IndexHeader | undefined
  readonly #damage: string[] = []
  /** The damage because of which the stored header tells the next open to rebuild the index. */
  #marked: string | undefined

  /** @param onDamage called for all damage found */
  constructor(store: IndexStore, onDamage: ((message: string) => void) | undefined) {
    this.#store = store
    this.#onDamage = onDamage
  }

  /** undefined until there is a header. */
  get hash(): HashName | undefined {
    return this.#header?.hash
  }

  /** REQUIRES: create() or load(). */
  get seeds(): Pick<IndexHeader, 'seedLo' | 'seedHi'> {
    return this.#header!
  }

  /** All damage noted since the index was opened. */
  get damage(): readonly string[] {
    return this.#damage
  }

  /** What was found after opening. */
  get unrepaired(): readonly string[] {
    return this.#marked === undefined ? [] : [this.#marked]
  }

  /** Creates the header of a new index, still to be written. @param seed random unless given */
  create(shape: IndexShape, seed: IndexSeed | undefined): IndexHeader {
    this.#header = createHeader(shape, seed)
    return this.#header
  }

  /** REQUIRES: create() or load(). */
  write(): Promise<void> {
    return this.#store.write([{ key: indexKey(IndexArea.header), value: encodeHeader(this.#header!) }])
  }

  /**
   * Adopts a stored header, and raises its format before the first record of the current format is written. A read-only
   * store stays as it is: nothing will be written.
   */
  async load(stored: IndexHeader): Promise<void> {
    this.#header = { ...stored, format: indexFormat }
    if (stored.format === indexFormat) return
    try {
      await this.write()
    } catch (error) {
      if (!(error instanceof PetalError) || error.codeName !== 'IllegalOperation') throw error
    }
  }

  /** Notes damage that opening repairs by rebuilding the index. */
  note(message: string): void {
    this.noteReported(message)
    this.#onDamage?.(message)
  }

  /** Notes damage that was reported when it was found, before the index was opened. */
  noteReported(message: string): void {
    this.#damage.push(message)
  }

  /** Notes damage found after opening: once, and in the store, too. */
  markDamaged(message: string): void {
    if (this.#marked !== undefined) return
    this.#marked = message
    this.note(message)
    const header = encodeHeader({ ...this.#header!, isDamaged: true })
    // If this write fails, nothing is lost: the damage will be found again.
    this.#store.write([{ key: indexKey(IndexArea.header), value: header }]).catch(() => undefined)
  }
}
