/** Stores that behave within the contract but unlike the usual ones. */
import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryLevel } from 'memory-level'

/** Applies a batch some time before it says so, and only some time after it was asked: what a thread does, but slower. */
export class SlowLevel extends MemoryLevel {
  // abstract-level's private API; its types leave it out.
  async _batch(operations: unknown, options: unknown): Promise<void> {
    await sleep(2)
    await (MemoryLevel.prototype as unknown as Batching)._batch.call(this, operations, options)
    await sleep(4)
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

/** Answers a read when `whenAsked` has. */
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

/** Refuses the batches that it is told to. */
export class FailingLevel extends MemoryLevel {
  /** Batches that still succeed before `failures` of them fail. */
  successes = Number.POSITIVE_INFINITY
  failures = Number.POSITIVE_INFINITY

  async _batch(operations: unknown, options: unknown): Promise<void> {
    // Some time passes, as it would on a disk.
    await sleep(1)
    if (this.successes-- <= 0 && this.failures-- > 0) throw new Error('no space left on device')
    await (MemoryLevel.prototype as unknown as Batching)._batch.call(this, operations, options)
  }
}

/** Applies a batch that was handed over first after those handed over while it waits: threads promise no order. */
export class ReorderingLevel extends MemoryLevel {
  /** The next batch waits this long. */
  nextDelay = 0

  async _batch(operations: unknown, options: unknown): Promise<void> {
    const delay = this.nextDelay
    this.nextDelay = 0
    if (delay > 0) await sleep(delay)
    await (MemoryLevel.prototype as unknown as Batching)._batch.call(this, operations, options)
  }
}

/** Counts the batches that were to be written to disk before they are acknowledged. */
export class SyncCountingLevel extends MemoryLevel {
  syncs = 0

  async _batch(operations: unknown, options: { readonly sync?: boolean }): Promise<void> {
    if (options.sync === true) this.syncs++
    await (MemoryLevel.prototype as unknown as Batching)._batch.call(this, operations, options)
  }
}

/** Knows how many iterators are open. */
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
