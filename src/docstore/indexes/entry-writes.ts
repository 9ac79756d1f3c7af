/**
 * The index entries of one commit: which ones it writes and deletes, and whether unique keys are free.
 *
 * Invariants:
 * 1. Entries are derived from the stored form of a document, both when they are written and when they are deleted, so
 *    the same entries are deleted that were written.
 * 2. A unique key is looked up in this commit, in the one in flight, then in the store: nothing else can hold it,
 *    because commits are prepared one after the other.
 * 3. admit() and claim() leave no trace of a rejected document.
 */
import { PetalError } from '../../model/errors.ts'
import { toText } from '../../model/key-text.ts'
import type { Document } from '../../model/types.ts'
import { jsonFormOf } from '../../sharded-bloom/byte-scan/plain.ts'
import { decodeRecord, encodeRecord } from '../documents/record.ts'
import type { WriteBatch } from '../write/write-batch.ts'
import type { DeclaredIndex, DocumentEntries, Entry } from './declared-index.ts'
import { arraysKey, ordinalAtEnd, ordinalValue, withOrdinal } from './entry-key.ts'
import { duplicateEntry } from './errors.ts'
import { arraysValue, type IndexStore } from './index-store.ts'

/** Ordinals by unique key; undefined for a deleted key. */
export type Owners = Map<string, number | undefined>

interface Admitted extends DocumentEntries {
  readonly index: DeclaredIndex
}

/** The entries of an admitted document in each index. */
export type AdmittedEntries = readonly Admitted[]

const nothing = new Uint8Array(0)
/** The owner of a key that is claimed. */
const noOrdinalYet = -1

export class EntryWrites {
  readonly #collection: string
  readonly #store: IndexStore
  readonly #indexes: readonly DeclaredIndex[]
  readonly owners: Owners = new Map()
  /** Of the previous commit, which may be in flight. */
  readonly #ownersBefore: Owners | undefined
  /** What load() found in a store that cannot be read synchronously. */
  readonly #loaded: Owners = new Map()
  /** Indexes whose arrays record is in the batch, with its value. */
  readonly #arrays = new Map<DeclaredIndex, number>()

  constructor(
    collection: string,
    store: IndexStore,
    indexes: readonly DeclaredIndex[],
    ownersBefore: Owners | undefined
  ) {
    this.#collection = collection
    this.#store = store
    this.#indexes = indexes
    this.#ownersBefore = ownersBefore
  }

  /** True if load() must be called before a document is admitted or ended. */
  get needsLoad(): boolean {
    return !this.#store.canReadSync && this.#indexes.some(({ definition }) => definition.unique)
  }

  /** Looks up the unique keys of documents to be written or deleted. */
  async load(documents: readonly Document[]): Promise<void> {
    const keys = new Map<string, Uint8Array>()
    for (const document of documents) {
      const stored = storedCopy(document)
      for (const index of stored === undefined ? [] : this.#indexes) {
        if (!index.definition.unique) continue
        for (const { key } of tryEntriesOf(index, stored as Document)) {
          keys.set(ownerKey(index, key), index.area.key(key))
        }
      }
    }
    const values = await this.#store.values([...keys.values()])
    let i = 0
    for (const text of keys.keys()) {
      const value = values[i++]
      this.#loaded.set(text, value === undefined ? undefined : ordinalAtEnd(value))
    }
  }

  /**
   * Returns the entries of a document about to be written.
   * @param document in stored form
   * @param replaced ordinal of the document it replaces
   * @throws PetalError DuplicateKey, CannotIndexParallelArrays, BadValue
   */
  admit(document: Document, replaced?: number): AdmittedEntries {
    const admitted: Admitted[] = []
    for (const index of this.#indexes) {
      try {
        admitted.push(this.#admit(index, document, replaced))
      } catch (error) {
        if (index.isReady || !(error instanceof PetalError)) throw error
        // The document may be written; it is the unfinished index that cannot be completed.
        index.failure ??= error
      }
    }
    return admitted
  }

  /**
   * Like admit(), for a document that is put when others have been admitted, too: none of them may have its unique keys.
   * @throws as admit()
   */
  claim(document: Document): AdmittedEntries {
    const admitted = this.admit(document)
    for (const { index, entries } of admitted) {
      if (!index.definition.unique) continue
      for (const { key } of entries) this.owners.set(ownerKey(index, key), noOrdinalYet)
    }
    return admitted
  }

  put(batch: WriteBatch, admitted: AdmittedEntries, ordinal: number): void {
    for (const { index, entries, arrays } of admitted) {
      if (arrays !== 0) this.#noteArrays(batch, index, arrays)
      for (const { key } of entries) {
        if (index.definition.unique) {
          this.owners.set(ownerKey(index, key), ordinal)
          batch.put(index.area, key, ordinalValue(ordinal))
        } else {
          batch.put(index.area, withOrdinal(key, ordinal), nothing)
        }
      }
    }
  }

  /** Deletes the entries of a stored document. Must be called before put() of its replacement. */
  remove(batch: WriteBatch, ordinal: number, record: string): void {
    const document = decodeRecord(record)
    for (const index of this.#indexes) {
      for (const { key } of tryEntriesOf(index, document)) {
        if (!index.definition.unique) {
          batch.del(index.area, withOrdinal(key, ordinal))
          continue
        }
        const text = ownerKey(index, key)
        // While an index is being built, the key may already belong to another document.
        if (this.#owner(index, text, key) !== ordinal) continue
        this.owners.set(text, undefined)
        batch.del(index.area, key)
      }
    }
  }

  #admit(index: DeclaredIndex, document: Document, replaced: number | undefined): Admitted {
    const { entries, arrays } = index.entriesOf(document)
    const mayCollide = index.definition.unique && !index.hasId
    if (mayCollide) for (const entry of entries) this.#assertFree(index, entry, replaced)
    return { index, entries, arrays }
  }

  #assertFree(index: DeclaredIndex, { key, values }: Entry, replaced: number | undefined): void {
    const owner = this.#owner(index, ownerKey(index, key), key)
    if (owner !== undefined && owner !== replaced) throw duplicateEntry(this.#collection, index.definition, values)
  }

  #owner(index: DeclaredIndex, text: string, key: Uint8Array): number | undefined {
    if (this.owners.has(text)) return this.owners.get(text)
    if (this.#ownersBefore?.has(text)) return this.#ownersBefore.get(text)
    if (this.#store.canReadSync) {
      const value = this.#store.value(index.area.key(key))
      return value === undefined ? undefined : ordinalAtEnd(value)
    }
    if (this.#loaded.has(text)) return this.#loaded.get(text)
    throw new PetalError('BadValue', 'The document was changed while it was being written', {
      details: { index: index.definition.name }
    })
  }

  #noteArrays(batch: WriteBatch, index: DeclaredIndex, arrays: number): void {
    index.arrays |= arrays
    if (this.#arrays.get(index) === index.arrays) return
    this.#arrays.set(index, index.arrays)
    batch.put(index.area, arraysKey, arraysValue(index.arrays))
  }
}

function ownerKey(index: DeclaredIndex, key: Uint8Array): string {
  return `${index.definition.id}:${toText(key)}`
}

/** No entries can be built for some documents written before the index existed. */
function tryEntriesOf(index: DeclaredIndex, document: Document): readonly Entry[] {
  try {
    return index.entriesOf(document).entries
  } catch (error) {
    if (error instanceof PetalError) return []
    throw error
  }
}

/**
 * Returns the document as it will be read back; undefined for one that will be rejected, with an error, when it is
 * written.
 */
function storedCopy(document: Document): Document | undefined {
  try {
    return decodeRecord(encodeRecord(document, jsonFormOf(document) !== undefined))
  } catch {
    return undefined
  }
}
