/** Objects into units of a bulk load: here they become records, which threads index and store as they are. */
import type { Document } from '../../model/types.ts'
import { RecordArena } from '../documents/record-arena.ts'
import { RecordEncoder } from '../documents/record-encoder.ts'
import { storedForm } from '../documents/stored-form.ts'
import type { OpenCollection } from '../open-collection.ts'
import { BulkLoad, type LoadHost } from './bulk-load.ts'
import { defaultThreads } from './default-threads.ts'

export interface TakenDocument {
  readonly id: unknown
  /** Of its record. */
  readonly bytes: number
}

export class RecordLoad {
  readonly bulk: BulkLoad
  readonly #encoder: RecordEncoder
  readonly #arena = new RecordArena('passing')

  private constructor(collection: OpenCollection, bulk: BulkLoad) {
    this.bulk = bulk
    // No index is to know of what is written.
    this.#encoder = new RecordEncoder({ flatten: (document) => collection.index.flatten(document) })
  }

  /** undefined where nothing can be built elsewhere. */
  static for(collection: OpenCollection, host: LoadHost, threads = defaultThreads()): RecordLoad | undefined {
    const bulk = BulkLoad.for(collection, 'record', host, threads)
    return bulk && new RecordLoad(collection, bulk)
  }

  /**
   * Takes a document as it is now.
   * @returns undefined for one that has to go the ordinary way, where it is told what is wrong with it, if anything is
   */
  put(document: Document): TakenDocument | undefined {
    try {
      const stored = storedForm(document)
      const record = this.#recordOf(stored)
      return this.bulk.put(record) ? { id: stored._id, bytes: record.length } : undefined
    } catch {
      return undefined
    }
  }

  #recordOf(document: Document): Uint8Array {
    const plain = this.#encoder.plain(0, document, this.#arena)
    return plain?.record ?? this.#arena.encode(this.#encoder.flat(document).record)
  }
}
