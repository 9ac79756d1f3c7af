/** Stores that keep their contract but behave unusually. */
import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryLevel } from 'memory-level'

/** Applies a batch after a delay, and reports it after another: like a thread, but slower. */
export class SlowLevel extends MemoryLevel {
  // Private API of abstract-level, missing from its types.
  async _batch(operations: unknown, options: unknown): Promise<void> {
    await sleep(2)
    await (MemoryLevel.prototype as unknown as Batching)._batch.call(this, operations, options)
    await sleep(4)
  }
}

/** Its batches wait for a gate. */
export class GatedLevel extends MemoryLevel {
  gate: Promise<void> | undefined
  /** Batches that have come to the gate. */
  waiting = 0

  async _batch(operations: unknown, options: unknown): Promise<void> {
    if (this.gate !== undefined) this.waiting++
    await this.gate
    await (MemoryLevel.prototype as unknown as Batching)._batch.call(this, operations, options)
  }
}

/** Has no synchronous reads. */
export class AsyncLevel extends MemoryLevel {
  constructor() {
    super()
    Object.assign(this.supports, { getSync: false })
    Object.assign(this, {
      getSync() {
        throw new Error('getSync() was called on a store that has none')
      }
    })
  }
}

/** Calls `whenAsked` before each read. */
export class AskingLevel extends AsyncLevel {
  whenAsked: (() => void) | undefined

  async _get(key: unknown, options: unknown): Promise<unknown> {
    this.whenAsked?.()
    return await (MemoryLevel.prototype as unknown as Reading)._get.call(this, key, options)
  }

  async _getMany(keys: unknown, options: unknown): Promise<unknown> {
    this.whenAsked?.()
    return await (MemoryLevel.prototype as unknown as Reading)._getMany.call(this, keys, options)
  }
}

/** Its reads by key wait for a gate. */
export class GatedReads extends AsyncLevel {
  gate: Promise<void> | undefined
  /** Reads that have come to the gate. */
  waiting = 0

  async _get(key: unknown, options: unknown): Promise<unknown> {
    await this.#pass()
    return await (MemoryLevel.prototype as unknown as Reading)._get.call(this, key, options)
  }

  async _getMany(keys: unknown, options: unknown): Promise<unknown> {
    await this.#pass()
    return await (MemoryLevel.prototype as unknown as Reading)._getMany.call(this, keys, options)
  }

  async #pass(): Promise<void> {
    if (this.gate !== undefined) this.waiting++
    await this.gate
  }
}

/** Fails batches on request. */
export class FailingLevel extends MemoryLevel {
  /** Number of batches that succeed before `failures` batches fail. */
  successes = Number.POSITIVE_INFINITY
  failures = Number.POSITIVE_INFINITY
  /** Milliseconds that a batch takes. */
  delay = 1

  async _batch(operations: unknown, options: unknown): Promise<void> {
    // Takes some time, like a disk.
    await sleep(this.delay)
    if (this.successes-- <= 0 && this.failures-- > 0) throw new Error('no space left on device')
    await (MemoryLevel.prototype as unknown as Batching)._batch.call(this, operations, options)
  }
}

/** Delays one batch past later ones: threads guarantee no order. */
export class ReorderingLevel extends MemoryLevel {
  /** Delay of the next batch, in milliseconds. */
  nextDelay = 0

  async _batch(operations: unknown, options: unknown): Promise<void> {
    const delay = this.nextDelay
    this.nextDelay = 0
    if (delay > 0) await sleep(delay)
    await (MemoryLevel.prototype as unknown as Batching)._batch.call(this, operations, options)
  }
}

/** Counts the batches with `sync: true`. */
export class SyncCountingLevel extends MemoryLevel {
  syncs = 0

  async _batch(operations: unknown, options: { readonly sync?: boolean }): Promise<void> {
    if (options.sync === true) this.syncs++
    await (MemoryLevel.prototype as unknown as Batching)._batch.call(this, operations, options)
  }
}

/** Counts the open iterators. */
export class CountingLevel extends MemoryLevel {
  openIterators = 0

  _iterator(options: unknown): unknown {
    const iterator = (MemoryLevel.prototype as unknown as Iterating)._iterator.call(this, options)
    const close = iterator._close
    this.openIterators++
    iterator._close = async () => {
      this.openIterators--
      await close.call(iterator)
    }
    return iterator
  }
}

interface Iterating {
  _iterator(options: unknown): { _close(): Promise<void> }
}

interface Reading {
  _get(key: unknown, options: unknown): Promise<unknown>
  _getMany(keys: unknown, options: unknown): Promise<unknown>
}

interface Batching {
  _batch(operations: unknown, options: unknown): Promise<void>
}
