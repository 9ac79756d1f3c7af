/** Bulk load of documents: encodes them as records here, which threads index and store as they are. */
import type { Document } from '../../model/types.ts'
import type { JsonRecord } from '../documents/json-record.ts'
import { RecordArena } from '../documents/record-arena.ts'
import { RecordEncoder } from '../documents/record-encoder.ts'
import { storedForm } from '../documents/stored-form.ts'
import type { OpenCollection } from '../open-collection.ts'
import { defaultThreads } from '../threads/default-threads.ts'
import { BulkLoad, type LoadHost } from './bulk-load.ts'
import { unitRecords } from './unit-records.ts'

/**
 * Documents that cannot be encoded to bytes directly are flattened here and again in a thread, at twice the cost per
 * document. If there are more than `fewFlat` of them, and more than one in `rareFlat`, documents are inserted the
 * ordinary way.
 */
const fewFlat = 64
const rareFlat = 32

/** Provided by insertMany(). */
export interface RecordHost {
  /** Inserts collected documents the ordinary way. */
  insertRecords(records: Iterable<JsonRecord | Document>): Promise<void>
  /** Called when that many more documents have been published. */
  published(documents: number): void
}

export class RecordLoad {
  readonly bulk: BulkLoad
  readonly #encoder: RecordEncoder
  readonly #arena = new RecordArena('transient')
  /** Documents taken since collection began, and how many of them had to be flattened. */
  #taken = 0
  #flat = 0

  private constructor(collection: OpenCollection, bulk: BulkLoad) {
    this.bulk = bulk
    // Without the index's own writer, since the index must not see these documents.
    this.#encoder = new RecordEncoder({ flatten: (document) => collection.index.flatten(document) })
  }

  /** Returns undefined if units cannot be built. */
  static for(collection: OpenCollection, host: RecordHost, threads = defaultThreads()): RecordLoad | undefined {
    const units: LoadHost = {
      insertNormally: (bytes) => host.insertRecords(unitRecords(bytes)),
      published: (_, documents) => host.published(documents)
    }
    const bulk = BulkLoad.for(collection, 'record', units, threads)
    return bulk && new RecordLoad(collection, bulk)
  }

  /** See BulkLoad.tryToBegin(). */
  tryToBegin(left: number | undefined): boolean {
    this.#taken = 0
    this.#flat = 0
    return this.bulk.tryToBegin(left)
  }

  /**
   * Takes a document in its current state.
   * @returns its `_id`; undefined if the document has to be inserted the ordinary way, which also reports errors
   */
  put(document: Document): unknown {
    let id: unknown
    let record: Uint8Array | undefined
    try {
      // Without guardRead(), whose closures would be a sixth of a document's garbage.
      const stored = storedForm(document)
      id = stored._id
      if (id === undefined || id === null) return undefined
      record = this.#recordOf(stored)
      // A getter may return a different one each time.
      if (record === undefined || !Object.is(stored._id, id)) return undefined
    } catch {
      return undefined
    }
    return this.bulk.put(record) ? id : undefined
  }

  #recordOf(stored: Document): Uint8Array | undefined {
    this.#taken++
    const plain = this.#encoder.plain(0, stored, this.#arena)
    if (plain !== undefined) return plain.record
    this.#flat++
    if (this.#flat > fewFlat && this.#flat * rareFlat > this.#taken) return undefined
    return this.#arena.encode(this.#encoder.flat(stored).record)
  }
}
