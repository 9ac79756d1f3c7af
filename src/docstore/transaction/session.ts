/**
 * A running transaction: the collections it holds, the order of its calls, and its end.
 *
 * Invariants:
 * 1. A collection is held from the first call on it until the end: other writes to it wait.
 * 2. Calls run one after the other, in the order in which they were made.
 * 3. Once ended, for whatever reason, every call is refused, and nothing is held any more when the one that was running
 *    has ended: what it reads does not change meanwhile.
 * 4. No call goes on waiting for a collection once the transaction has ended, since others may wait for its end.
 */
import { AbortedError, PetalError } from '../../model/errors.ts'
import { callOnAbort } from '../call-on-abort.ts'
import type { Collections } from '../collections.ts'
import { deferred } from '../deferred.ts'
import { notOpen } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { Whole } from '../read/control.ts'
import { maxDelay } from '../write/until-aborted.ts'
import { commitChanges } from './commit-changes.ts'
import { Room } from './room.ts'
import { StagedChanges } from './staged-changes.ts'

export interface Limits {
  readonly signal: AbortSignal | undefined
  /** 0 for no limit. */
  readonly maxTimeMS: number
}

type Refusal = () => PetalError

/** The end of the transaction's time. */
interface Deadline {
  /** As performance.now() tells it. */
  readonly at: number
  readonly refusal: Refusal
}

export class Session implements Whole {
  readonly #collections: Collections
  readonly #room = new Room()
  readonly #staged = new Map<string, StagedChanges>()
  /** Settles when the last call has. */
  #calls: Promise<unknown> = Promise.resolve()
  /** Returns why a call is refused: an error of its own for each. undefined while the transaction runs. */
  #refusal: Refusal | undefined
  /** undefined when there is none, or the transaction does not obey it any more. */
  #deadline: Deadline | undefined
  /** Resolves when the collections are no longer held. */
  readonly #released = deferred()
  readonly #interruption = deferred<never>()

  constructor(collections: Collections) {
    this.#collections = collections
  }

  /** Rejects when the transaction has to end before its body has. */
  get interrupted(): Promise<never> {
    return this.#interruption.promise
  }

  /** Interrupts the transaction when its time is over, its signal fires, or the database closes. @returns stops that */
  obey({ signal, maxTimeMS }: Limits): () => void {
    const { closing } = this.#collections
    const onClose = (): void => this.#interrupt(() => notOpen())
    closing.listen(onClose)
    const stops = [() => closing.forget(onClose)]
    if (signal !== undefined) {
      stops.push(callOnAbort(signal, () => this.#interrupt(() => new AbortedError(signal.reason))))
    }
    if (maxTimeMS > 0) {
      const refusal = (): PetalError => expired(maxTimeMS)
      const timer = setTimeout(() => this.#interrupt(refusal), Math.min(maxTimeMS, maxDelay))
      this.#deadline = { at: performance.now() + maxTimeMS, refusal }
      stops.push(() => {
        clearTimeout(timer)
        this.#deadline = undefined
      })
    }
    return () => {
      for (const stop of stops) stop()
    }
  }

  /**
   * Runs a call when its turn has come.
   * @param run gets undefined while the collection does not exist
   * @throws PetalError NoSuchTransaction, or why the transaction was interrupted
   */
  read<R>(name: string, run: (staged: StagedChanges | undefined) => R | Promise<R>): Promise<R> {
    return this.#inTurn(async () => {
      const exists = this.#staged.has(name) || (await this.#opened(name)) !== undefined
      return run(exists ? await this.#hold(name) : undefined)
    })
  }

  /** Like read(), but the collection is created if it does not exist. */
  write<R>(name: string, run: (staged: StagedChanges) => Promise<R>): Promise<R> {
    return this.#inTurn(async () => run(await this.#hold(name)))
  }

  /** Resolves when the calls made so far have settled. */
  async idle(): Promise<void> {
    await this.#calls
  }

  /** REQUIRES: nothing interrupts the transaction any more. @throws as commitChanges(), and why it was interrupted */
  commit(): Promise<void> {
    this.assertRunning()
    this.#refusal = over
    return commitChanges([...this.#staged.values()])
  }

  /** Frees the collections when no call is running; what was not committed is forgotten. */
  end(): void {
    this.#end(over)
  }

  #end(refusal: Refusal): void {
    this.#refusal ??= refusal
    this.#calls.then(() => this.#released.resolve())
  }

  #interrupt(refusal: Refusal): void {
    this.#end(refusal)
    this.#interruption.reject(refusal())
  }

  get remainingMilliseconds(): number | undefined {
    return this.#deadline && this.#deadline.at - performance.now()
  }

  /**
   * Looks at the clock itself, because no timer goes off while an expression is evaluated.
   * @throws PetalError NoSuchTransaction, or why the transaction was interrupted
   */
  assertRunning(): void {
    const deadline = this.#deadline
    if (deadline !== undefined && performance.now() > deadline.at) this.#interrupt(deadline.refusal)
    if (this.#refusal !== undefined) throw this.#refusal()
  }

  #inTurn<R>(call: () => Promise<R>): Promise<R> {
    this.assertRunning()
    const result = this.#calls.then(async () => {
      this.assertRunning()
      try {
        return await call()
      } finally {
        this.assertRunning()
      }
    })
    this.#calls = result.catch(() => {})
    return result
  }

  #opened(name: string): OpenCollection | undefined | Promise<OpenCollection | undefined> {
    const opening = this.#collections.openForRead(name)
    return opening instanceof Promise ? this.#unlessInterrupted(opening) : opening
  }

  #unlessInterrupted<T>(waiting: Promise<T>): Promise<T> {
    return Promise.race([this.interrupted, waiting])
  }

  async #hold(name: string): Promise<StagedChanges> {
    const known = this.#staged.get(name)
    if (known !== undefined) return known
    const held = new Promise<OpenCollection>((resolve, reject) => {
      const hold = (opened: OpenCollection): Promise<void> =>
        opened.writer.exclusive(() => {
          resolve(opened)
          return this.#released.promise
        })
      this.#collections.write(name, hold).catch(reject)
    })
    const collection = await this.#unlessInterrupted(held)
    const staged = new StagedChanges(collection, this.#room)
    this.#staged.set(name, staged)
    return staged
  }
}

function expired(maxTimeMS: number): PetalError {
  return new PetalError(
    'MaxTimeMSExpired',
    `The transaction exceeded its time limit of ${maxTimeMS} ms and was rolled back; a call of the database instead of ` +
      'the transaction, inside it, waits for its end',
    { details: { maxTimeMS } }
  )
}

function over(): PetalError {
  return new PetalError('NoSuchTransaction', 'The transaction has ended')
}
