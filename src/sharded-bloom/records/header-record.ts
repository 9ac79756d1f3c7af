/**
 * The header as it is stored, and the damage of an index: the one that is met while reading is noted in it, so that the next
 * open builds the index again.
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
  /** The stored header says that the next open has to build the index again. */
  #isDamaged = false
  readonly #damage: string[] = []

  /** @param onDamage told of all that is noted */
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

  /** All that was noted since the index was opened. */
  get damage(): readonly string[] {
    return this.#damage
  }

  /** Of an index that begins, to be written. @param seed random unless given */
  create(shape: IndexShape, seed: IndexSeed | undefined): IndexHeader {
    this.#header = createHeader(shape, seed)
    return this.#header
  }

  /** REQUIRES: create() or load(). */
  write(): Promise<void> {
    return this.#store.write([{ key: indexKey(IndexArea.header), value: encodeHeader(this.#header!) }])
  }

  /**
   * Takes a stored one, whose format is raised before the first record of this format is written. A read-only store stays as
   * it is: nothing will be written.
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

  /** Of damage that opening mends: the index is built again, or was. */
  note(message: string): void {
    this.#damage.push(message)
    this.#onDamage?.(message)
  }

  /** Of damage that is met later: noted once, and in the store. */
  markDamaged(message: string): void {
    if (this.#isDamaged) return
    this.#isDamaged = true
    this.note(message)
    const header = encodeHeader({ ...this.#header!, isDamaged: true })
    // A failure to write it down changes nothing: the damage will be met again.
    this.#store.write([{ key: indexKey(IndexArea.header), value: header }]).catch(() => undefined)
  }
}
