/** Lookups as resources of a database: closing it ends them first, because they hold read views. */
import { notOpen } from '../errors.ts'

/** The part of an AbortSignal that is checked between slices of work. */
export interface Cancellation {
  readonly aborted: boolean
  readonly reason: unknown
}

/** The part of an abstract-level database that tracks resources. */
export interface ResourceOwner {
  attachResource(resource: Resource): void
  detachResource(resource: Resource): void
}

interface Resource {
  close(): Promise<void>
}

/** Cancels when the caller's signal fires or the database closes, whichever comes first. */
class CancellationSource implements Cancellation {
  #closed: Error | undefined
  readonly #signal: AbortSignal | undefined

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
  }

  get aborted(): boolean {
    return this.#closed !== undefined || this.#signal?.aborted === true
  }

  get reason(): unknown {
    return this.#closed ?? this.#signal?.reason
  }

  /** The error of a closed database; undefined while it is open. */
  get closed(): Error | undefined {
    return this.#closed
  }

  close(): void {
    this.#closed ??= notOpen()
  }
}

/** The entries of a lookup, as long as the database is open. */
export class LookupIterator<T> implements AsyncIterableIterator<T> {
  readonly #owner: ResourceOwner
  readonly #cancellation: CancellationSource
  readonly #entries: AsyncGenerator<T, void>
  #isAttached = false

  /** @param start its generator runs, up to its first await, at the first next() */
  constructor(
    owner: ResourceOwner,
    signal: AbortSignal | undefined,
    start: (cancellation: Cancellation) => AsyncGenerator<T, void>
  ) {
    this.#owner = owner
    this.#cancellation = new CancellationSource(signal)
    this.#entries = start(this.#cancellation)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** @throws LEVEL_DATABASE_NOT_OPEN once the database is closed */
  async next(): Promise<IteratorResult<T, undefined>> {
    if (this.#cancellation.closed !== undefined) throw this.#cancellation.closed
    if (!this.#isAttached) this.#owner.attachResource(this)
    this.#isAttached = true
    try {
      const { done, value } = await this.#entries.next()
      if (done !== true) return { done: false, value }
    } catch (error) {
      this.#owner.detachResource(this)
      throw error
    }
    this.#owner.detachResource(this)
    return { done: true, value: undefined }
  }

  /** Ends the lookup early; `for await` calls it. */
  async return(): Promise<IteratorResult<T, undefined>> {
    await this.#entries.return()
    this.#owner.detachResource(this)
    return { done: true, value: undefined }
  }

  /** Called by the database. */
  async close(): Promise<void> {
    this.#cancellation.close()
    await this.#entries.return()
  }
}

/** Runs a function that holds a read view; closing the database cancels it and waits for it. */
export async function runAttached<T>(
  owner: ResourceOwner,
  signal: AbortSignal | undefined,
  run: (cancellation: Cancellation) => Promise<T>
): Promise<T> {
  const cancellation = new CancellationSource(signal)
  const running = run(cancellation)
  const resource = {
    async close(): Promise<void> {
      cancellation.close()
      // The caller handles its error.
      await running.catch(() => undefined)
    }
  }
  owner.attachResource(resource)
  try {
    return await running
  } finally {
    owner.detachResource(resource)
  }
}
