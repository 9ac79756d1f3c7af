/**
 * Inserts a stream of documents in batches; the next one is collected while one is being written.
 *
 * Invariants:
 * 1. At most two batches are held, each bounded in documents and in bytes.
 * 2. A refused document is traced back to its line.
 * 3. When strict, nothing after the first bad line is inserted, and everything before it is.
 */
import { BulkWriteError, type Collection } from '../index.ts'
import type { Document } from '../model/types.ts'
import { BadLine, type DocumentLine } from './read-document.ts'

/** Bytes of lines after which a batch is full, however few its documents are. */
const maxBatchBytes = 8 * 1024 * 1024

export interface BatchInserterOptions {
  readonly batchDocuments: number
  /** Throw the first bad line instead of passing it to `refused`. */
  readonly isStrict: boolean
  readonly refused: (bad: BadLine) => void
}

export class BatchInserter {
  readonly #collection: Collection
  readonly #options: BatchInserterOptions
  #documents: Document[] = []
  /** Line number of each document of the batch. */
  #lines: number[] = []
  #bytes = 0
  #underWay: Promise<void> = Promise.resolve()
  #insertedCount = 0

  constructor(collection: Collection, options: BatchInserterOptions) {
    this.#collection = collection
    this.#options = options
  }

  /** Documents that are in the database. */
  get insertedCount(): number {
    return this.#insertedCount
  }

  /**
   * @returns a promise when the batch is full: wait for it before the next
   * @throws BadLine when strict, for a document of an earlier batch that was refused
   */
  add({ document, number, byteLength }: DocumentLine): Promise<void> | undefined {
    this.#documents.push(document)
    this.#lines.push(number)
    this.#bytes += byteLength
    const isFull = this.#documents.length >= this.#options.batchDocuments || this.#bytes >= maxBatchBytes
    return isFull ? this.#start() : undefined
  }

  /** Tells of a line that holds no document. */
  refuse(bad: BadLine): Promise<void> | undefined {
    if (this.#options.isStrict) return this.#stopAt(bad)
    this.#options.refused(bad)
    return undefined
  }

  /** Inserts what is left. */
  async finish(): Promise<void> {
    await this.#start()
    await this.#underWay
  }

  /** Waits for what is under way, whatever comes of it. */
  async settle(): Promise<void> {
    await this.#underWay.catch(() => {
      // Whoever waited for the batch has had its error.
    })
  }

  async #stopAt(bad: BadLine): Promise<void> {
    await this.finish()
    throw bad
  }

  /** Waits for the batch under way, then sends the one that was collected meanwhile. */
  async #start(): Promise<void> {
    const documents = this.#documents
    const lines = this.#lines
    this.#documents = []
    this.#lines = []
    this.#bytes = 0
    await this.#underWay
    if (documents.length === 0) return
    this.#underWay = this.#insert(documents, lines)
    // Its error belongs to whoever waits for it next; until then it is not an unhandled one.
    this.#underWay.catch(() => {})
  }

  async #insert(documents: readonly Document[], lines: readonly number[]): Promise<void> {
    try {
      const { insertedCount } = await this.#collection.insertMany(documents, { ordered: this.#options.isStrict })
      this.#insertedCount += insertedCount
    } catch (error) {
      if (!(error instanceof BulkWriteError)) throw error
      this.#insertedCount += error.insertedCount
      for (const { index, errmsg, error: cause } of error.writeErrors) {
        const bad = new BadLine(lines[index] ?? 0, errmsg, cause)
        if (this.#options.isStrict) throw bad
        this.#options.refused(bad)
      }
    }
  }
}
