/** The handle that the body of a transaction gets, and what runs it. */
import { throwIfAborted } from '../../model/errors.ts'
import type { Document } from '../../model/types.ts'
import type { Collections } from '../collections.ts'
import type { Known } from '../known-options.ts'
import { assertFunction, assertOptions, wholeNumber } from '../option-checks.ts'
import { checkCollectionName } from '../store/collection-name.ts'
import { untilAborted } from '../write/until-aborted.ts'
import { Session } from './session.ts'
import { TransactionCollection } from './transaction-collection.ts'

/** Options of withTransaction(). */
export interface TransactionOptions {
  /**
   * Milliseconds from the start of the body after which the transaction is rolled back; 0 for no limit. Default 60,000,
   * as in MongoDB.
   */
  readonly maxTimeMS?: number | undefined
  /** Rolls back with an AbortedError; has no effect once the body has returned. */
  readonly signal?: AbortSignal | undefined
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

/**
 * Runs a transaction when those before it have ended.
 * @throws as Database.withTransaction()
 */
export function runTransaction<T extends object, R>(
  collections: Collections,
  defaultCollection: string,
  body: Body<T, R>,
  options: TransactionOptions
): Promise<R> {
  assertOptions('withTransaction', options, knownTransactionOptions)
  assertFunction('The body of withTransaction', body)
  const maxTimeMS = wholeNumber('maxTimeMS', options.maxTimeMS, defaultMilliseconds)
  const { signal } = options
  throwIfAborted(signal)
  collections.assertWritable()
  let hasBegun = false
  const done = collections.transactions.run(async () => {
    throwIfAborted(signal)
    collections.assertWritable()
    hasBegun = true
    const session = new Session(collections)
    const stop = session.obey({ signal, maxTimeMS })
    try {
      const result = await Promise.race([session.interrupted, resultOf(body, session, defaultCollection)])
      stop()
      await session.commit()
      return result
    } finally {
      stop()
      session.end()
    }
  })
  return signal === undefined ? done : untilAborted(done, signal, () => !hasBegun)
}

/** Calls that the body made without waiting for them belong to the transaction, too. */
async function resultOf<T extends object, R>(
  body: Body<T, R>,
  session: Session,
  defaultCollection: string
): Promise<R> {
  const result = await body(new Transaction<T>(session, defaultCollection))
  await session.idle()
  return result
}
