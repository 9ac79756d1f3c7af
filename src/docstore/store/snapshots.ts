/**
 * Snapshots of the store for read views.
 *
 * The store applies a commit on a thread of its own, some time before we are notified. A view captured in between would
 * no longer see documents that its index considers live, nor yet see the ones that replaced them.
 *
 * Invariants:
 * 1. While a batch that deletes is in flight, every view gets the snapshot taken before it.
 * 2. Batches that only insert need no such care: what they add is at or above every view's limit. With ordinals
 *    computed from ids, they do need it.
 * 3. A snapshot is closed with the last view that uses it.
 */
import type { AbstractSnapshot } from 'abstract-level'
import type { CollectionStore } from './collection-store.ts'
import type { TextReadOptions } from './store-access.ts'

export class SharedSnapshot {
  readonly options: TextReadOptions
  readonly #snapshot: AbstractSnapshot
  #users = 1

  constructor(store: CollectionStore) {
    this.#snapshot = store.snapshot()
    this.options = store.readOptions(this.#snapshot)
  }

  share(): this {
    this.#users++
    return this
  }

  release(): void {
    if (--this.#users > 0) return
    // Closing only frees memory; a store that was closed meanwhile has closed its snapshots itself.
    this.#snapshot.close().catch(() => {})
  }
}

export class Snapshots {
  readonly #store: CollectionStore
  readonly #latest: TextReadOptions
  #pinned: SharedSnapshot | undefined

  constructor(store: CollectionStore) {
    this.#store = store
    this.#latest = store.readOptions()
  }

  /** Returns a snapshot of the committed state, which the caller must release. */
  acquire(): SharedSnapshot {
    return this.#pinned?.share() ?? new SharedSnapshot(this.#store)
  }

  /**
   * Read options for the committed state, for reads that end before the next `await`, and so need no snapshot of their
   * own.
   */
  get readOptions(): TextReadOptions {
    return this.#pinned?.options ?? this.#latest
  }

  /** Must be called before a batch that deletes is handed to the store. */
  pin(): void {
    this.#pinned ??= new SharedSnapshot(this.#store)
  }

  /** Must be called once the batch is applied and the index has been updated. */
  unpin(): void {
    this.#pinned?.release()
    this.#pinned = undefined
  }
}
