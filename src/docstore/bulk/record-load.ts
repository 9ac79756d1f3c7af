/** Objects into units of a bulk load: here they become records, which threads index and store as they are. */
import { PetalError } from '../../model/errors.ts'
import type { Document } from '../../model/types.ts'
import type { JsonRecord } from '../documents/json-record.ts'
import { RecordArena } from '../documents/record-arena.ts'
import { RecordEncoder } from '../documents/record-encoder.ts'
import { lookInto, storedForm } from '../documents/stored-form.ts'
import type { OpenCollection } from '../open-collection.ts'
import { BulkLoad, type LoadHost } from './bulk-load.ts'
import { defaultThreads } from './default-threads.ts'
import { unitRecords } from './unit-records.ts'

/**
 * Documents that cannot be written as bytes at once are taken apart here and once more in a thread, at twice the cost of one of these:
 * where there are more than so many of them, and than one in so many, all go the ordinary way.
 */
const fewFlat = 64
const rareFlat = 32

/** What the caller does itself. */
export interface RecordHost {
  /** Inserts documents that were collected in the ordinary way. */
  insertRecords(records: Iterable<JsonRecord | Document>): Promise<void>
  /** So many more documents are in the database. */
  published(documents: number): void
}

export class RecordLoad {
  readonly bulk: BulkLoad
  readonly #encoder: RecordEncoder
  readonly #arena = new RecordArena('passing')
  /** Since it began to collect: documents, and those among them that had to be taken apart. */
  #taken = 0
  #flat = 0

  private constructor(collection: OpenCollection, bulk: BulkLoad) {
    this.bulk = bulk
    // No index is to know of what is written.
    this.#encoder = new RecordEncoder({ flatten: (document) => collection.index.flatten(document) })
  }

  /** undefined where nothing can be built elsewhere. */
  static for(collection: OpenCollection, host: RecordHost, threads = defaultThreads()): RecordLoad | undefined {
    const units: LoadHost = {
      insertOrdinarily: (bytes) => host.insertRecords(unitRecords(bytes)),
      published: (_, documents) => host.published(documents)
    }
    const bulk = BulkLoad.for(collection, 'record', units, threads)
    return bulk && new RecordLoad(collection, bulk)
  }

  /** As BulkLoad.tryToBegin(). */
  tryToBegin(left: number | undefined): boolean {
    this.#taken = 0
    this.#flat = 0
    return this.bulk.tryToBegin(left)
  }

  /**
   * Takes a document as it is now.
   * @returns its `_id`; undefined for one that has to go the ordinary way, where it is told what is wrong with it, if anything is
   */
  put(document: Document): unknown {
    try {
      const stored = lookInto(() => storedForm(document))
      const id = idOf(stored)
      if (id === undefined || id === null) return undefined
      const record = this.#recordOf(stored)
      // A getter may give another one.
      if (record === undefined || !Object.is(idOf(stored), id) || !this.bulk.put(record)) return undefined
      return id
    } catch (error) {
      if (error instanceof PetalError) return undefined
      throw error
    }
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

/** @throws PetalError BadValue */
function idOf(document: Document): unknown {
  return lookInto(() => document._id)
}
