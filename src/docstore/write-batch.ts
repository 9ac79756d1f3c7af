/**
 * The operations of one commit: documents, ids, index records and the collection's state, whole or absent together.
 */
import type { IndexWrite } from '../sharded-bloom/document-index.ts'
import { indexOperation, type Operation } from './collection-store.ts'
import type { Area } from './layout.ts'

/** What a collection knows about itself, written with every commit. */
export interface CollectionState {
  /** The ordinal that the next document gets; every stored one is below it. */
  readonly nextOrdinal: number
  readonly documents: number
  /** UTF-8 bytes of all records. */
  readonly documentBytes: number
}

export class WriteBatch {
  readonly operations: Operation[] = []
  readonly #docs: Area
  readonly #ids: Area
  readonly #index: Area
  readonly #stateKey: Uint8Array
  #size = 0

  constructor(docs: Area, ids: Area, index: Area, stateKey: Uint8Array) {
    this.#docs = docs
    this.#ids = ids
    this.#index = index
    this.#stateKey = stateKey
  }

  /** Characters or bytes of the records to be put: what bounds a batch. */
  get size(): number {
    return this.#size
  }

  /** @param record its text, or the text's UTF-8 bytes, which are then the store's */
  putDocument(ordinal: number, record: string | Uint8Array): void {
    this.#size += record.length
    this.operations.push({
      type: 'put',
      key: this.#docs.ordinalKey(ordinal),
      value: record,
      keyEncoding: 'view',
      valueEncoding: typeof record === 'string' ? 'utf8' : 'view'
    })
  }

  deleteDocument(ordinal: number): void {
    this.operations.push({ type: 'del', key: this.#docs.ordinalKey(ordinal), keyEncoding: 'view' })
  }

  putId(id: Uint8Array, ordinal: number): void {
    this.operations.push({
      type: 'put',
      key: this.#ids.key(id),
      value: String(ordinal),
      keyEncoding: 'view',
      valueEncoding: 'utf8'
    })
  }

  deleteId(id: Uint8Array): void {
    this.operations.push({ type: 'del', key: this.#ids.key(id), keyEncoding: 'view' })
  }

  putIndexRecord(write: IndexWrite): void {
    this.operations.push(indexOperation(this.#index, write))
  }

  putState(state: CollectionState): void {
    this.operations.push({
      type: 'put',
      key: this.#stateKey,
      value: JSON.stringify(state),
      keyEncoding: 'view',
      valueEncoding: 'utf8'
    })
  }
}
