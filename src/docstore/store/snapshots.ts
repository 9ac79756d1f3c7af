/**
 * Snapshots of the store for read views.
 *
 * A commit is applied by the store on a thread of its own, some time before we are told. A view captured in between
 * would see documents gone that its index holds live, and not yet see what replaced them.
 *
 * Invariants:
 * 1. While a batch that deletes is under way, every view gets the snapshot taken before it.
 * 2. Batches that only insert need no such care: what they add is at or above every view's limit. Where ordinals are
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
    // Closing frees memory only; a store that was closed meanwhile has closed its snapshots itself.
    this.#snapshot.close().catch(ignore)
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

  /** The committed state, to be released by the caller. */
  acquire(): SharedSnapshot {
    return this.#pinned?.share() ?? new SharedSnapshot(this.#store)
  }

  /** The committed state for reads that end before the next `await`: no snapshot has to be made for them. */
  get passing(): TextReadOptions {
    return this.#pinned?.options ?? this.#latest
  }

  /** Call before a batch that deletes is handed to the store. */
  pin(): void {
    this.#pinned ??= new SharedSnapshot(this.#store)
  }

  /** Call when the batch is applied and the index knows. */
  unpin(): void {
    this.#pinned?.release()
    this.#pinned = undefined
  }
}

function ignore(): void {}
