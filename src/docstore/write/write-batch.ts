/** The operations of one commit: documents, ids, index records and the collection's state, applied atomically. */
import type { IndexWrite } from '../../sharded-bloom/document-index.ts'
import { type Area, ordinalSuffix } from '../store/layout.ts'
import { scratchDigits } from '../store/ordinal-digits.ts'
import type { BatchSink } from '../store/store-access.ts'

/** The state of a collection, written with every commit. */
export interface CollectionState {
  /** Ordinal of the next document; all stored ordinals are below it. */
  readonly nextOrdinal: number
  readonly documents: number
  /** UTF-8 bytes of all records. */
  readonly documentBytes: number
  /** With auto-incremented `_id`s: greater than every `_id` ever used. */
  readonly nextId?: number
}

const noKey = new Uint8Array(0)

export class WriteBatch {
  readonly #sink: BatchSink
  readonly #docs: Area
  /** undefined without an id table. */
  readonly #ids: Area | undefined
  readonly #index: Area
  readonly #stateKey: Uint8Array
  #size = 0

  constructor(sink: BatchSink, docs: Area, ids: Area | undefined, index: Area, stateKey: Uint8Array) {
    this.#sink = sink
    this.#docs = docs
    this.#ids = ids
    this.#index = index
    this.#stateKey = stateKey
  }

  /** Characters or bytes of the records put so far; used to bound batches. */
  get size(): number {
    return this.#size
  }

  get isEmpty(): boolean {
    return this.#sink.count === 0
  }

  /**
   * Whether records and keys are copied when put; otherwise their bytes are referenced until the batch is committed,
   * and perhaps longer.
   */
  get copies(): boolean {
    return this.#sink.copies
  }

  /** @param record text, or its UTF-8 bytes */
  putDocument(ordinal: number, record: string | Uint8Array): void {
    this.#size += record.length
    const key = ordinalSuffix(ordinal)
    if (typeof record === 'string') this.#sink.putText(this.#docs.first, key, record)
    else this.#sink.put(this.#docs.first, key, record)
  }

  deleteDocument(ordinal: number): void {
    this.del(this.#docs, ordinalSuffix(ordinal))
  }

  putId(id: Uint8Array, ordinal: number): void {
    if (this.#ids === undefined) return
    if (this.#sink.copies) this.#sink.put(this.#ids.first, id, scratchDigits(ordinal))
    else this.#sink.putText(this.#ids.first, id, String(ordinal))
  }

  deleteId(id: Uint8Array): void {
    if (this.#ids !== undefined) this.del(this.#ids, id)
  }

  /** The caller may reuse the value's buffer at once. */
  putIndexRecord({ key, value }: IndexWrite): void {
    if (value === undefined) this.del(this.#index, key)
    else this.put(this.#index, key, this.copies ? value : value.slice())
  }

  putState(state: CollectionState): void {
    this.#sink.putText(this.#stateKey, noKey, JSON.stringify(state))
  }

  deleteState(): void {
    this.#sink.del(this.#stateKey, noKey)
  }

  put(area: Area, key: Uint8Array, value: Uint8Array): void {
    this.#sink.put(area.first, key, value)
  }

  del(area: Area, key: Uint8Array): void {
    this.#sink.del(area.first, key)
  }

  /** Must be called only once. */
  commit(sync: boolean): Promise<void> {
    return this.#sink.commit(sync)
  }
}
