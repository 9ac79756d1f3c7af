/** The handle that the body of a transaction gets, and what runs it. */
import { throwIfAborted } from '../../model/errors.ts'
import type { Document } from '../../model/types.ts'
import type { Collections } from '../collections.ts'
import type { Known } from '../known-options.ts'
import { assertFunction, assertOptions, wholeNumber } from '../option-checks.ts'
import { checkCollectionName } from '../store/collection-name.ts'
import { untilAborted } from '../write/until-aborted.ts'
import { WriteQueue } from '../write/write-queue.ts'
import { type Limits, Session } from './session.ts'
import { TransactionCollection } from './transaction-collection.ts'

/** Options of withTransaction(). */
export interface TransactionOptions {
  /**
   * Milliseconds from the start of the body after which the transaction is rolled back; 0 for no limit. Default 60,000,
   * as in MongoDB.
   */
  readonly maxTimeMS?: number
  /** Rolls back with an AbortedError; has no effect once the body has returned. */
  readonly signal?: AbortSignal
}

const knownTransactionOptions = { maxTimeMS: true, signal: true } satisfies Known<TransactionOptions>
const defaultMilliseconds = 60_000

/**
 * What withTransaction() passes to its body: the collections of the database, with the changes that the transaction has
 * made so far. Itself it is the default collection, like the database.
 */
export class Transaction<out T extends object = Document> extends TransactionCollection<T> {
  readonly #session: Session

  /** Not to be called directly: use Database.withTransaction(). */
  constructor(session: Session, defaultCollection: string) {
    super(session, defaultCollection)
    this.#session = session
  }

  /** Returns a handle to a collection by name. The first write creates it, even if the transaction is rolled back. */
  collection<U extends object = Document>(name: string): TransactionCollection<U> {
    checkCollectionName(name)
    return new TransactionCollection<U>(this.#session, name)
  }
}

type Body<T extends object, R> = (tx: Transaction<T>) => R | Promise<R>

/** Runs the transactions of a database one after the other. */
export class Transactions {
  readonly #collections: Collections
  readonly #defaultCollection: string
  readonly #queue = new WriteQueue()

  constructor(collections: Collections, defaultCollection: string) {
    this.#collections = collections
    this.#defaultCollection = defaultCollection
  }

  /** @throws as Database.withTransaction() */
  run<T extends object, R>(body: Body<T, R>, options: TransactionOptions): Promise<R> {
    assertOptions('withTransaction', options, knownTransactionOptions)
    assertFunction('The body of withTransaction', body)
    const maxTimeMS = wholeNumber('maxTimeMS', options.maxTimeMS, defaultMilliseconds)
    const { signal } = options
    throwIfAborted(signal)
    this.#collections.assertWritable()
    let isWaiting = true
    const done = this.#queue.run(() => {
      isWaiting = false
      throwIfAborted(signal)
      this.#collections.assertWritable()
      return this.#run(body, { signal, maxTimeMS })
    })
    return signal === undefined ? done : untilAborted(done, signal, () => isWaiting)
  }

  async #run<T extends object, R>(body: Body<T, R>, limits: Limits): Promise<R> {
    const session = new Session(this.#collections)
    const stop = session.obey(limits)
    try {
      const tx = new Transaction<T>(session, this.#defaultCollection)
      const result = await Promise.race([session.interrupted, resultOf(body, tx, session)])
      stop()
      await session.commit()
      return result
    } finally {
      stop()
      session.end()
    }
  }
}

/** Calls that the body made without waiting for them belong to the transaction, too. */
async function resultOf<T extends object, R>(body: Body<T, R>, tx: Transaction<T>, session: Session): Promise<R> {
  const result = await body(tx)
  await session.idle()
  return result
}
