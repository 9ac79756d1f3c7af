/**
 * Tracks which `_id`s exist: in the store, in batches in flight, and the greatest of all, above which no lookup is
 * needed.
 *
 * Invariant: an `_id` that is neither stored nor noted belongs to no document.
 */
import { nextTurn } from '../../model/time-slice.ts'
import { keysOf } from '../bulk/id-keys.ts'
import type { LoadedIds } from '../bulk/load-unit.ts'
import type { CollectionStore } from '../store/collection-store.ts'
import { compareBytes } from '../store/layout.ts'
import { PendingIds } from './pending-ids.ts'

/** Below every encoded `_id`. */
const noId = new Uint8Array(0)
/** Ids of a load that are looked up before yielding to the event loop. */
const idsPerLookup = 500

export class KnownIds {
  readonly #store: CollectionStore
  /** Ids of inserts that are prepared but not yet applied. */
  readonly #pending = new Set<PendingIds>()
  readonly #readGreatest: () => Promise<Uint8Array | undefined>
  /** No `_id` of the collection, stored or pending, is greater. undefined until the first insert. */
  #greatest: Uint8Array | undefined

  /**
   * @param readGreatest greatest `_id` of the stored documents; read by the first insert, since many processes only
   *   read
   */
  constructor(store: CollectionStore, readGreatest: () => Promise<Uint8Array | undefined>) {
    this.#store = store
    this.#readGreatest = readGreatest
  }

  /** Must be awaited before any other method is called. */
  async prepare(): Promise<void> {
    this.#greatest ??= (await this.#readGreatest()) ?? noId
  }

  /** True when no document can have the `_id` because it is greater than all others. */
  isGreatest(key: Uint8Array): boolean {
    return this.#greatest !== undefined && compareBytes(key, this.#greatest) > 0
  }

  /** Records the key if it is the greatest. @param key of a document that is, or will be, in the collection */
  noteGreatest(key: Uint8Array): void {
    if (this.isGreatest(key)) this.#greatest = key
  }

  /** Starts tracking the `_id`s of a run of inserts, until release(). */
  begin(): PendingIds {
    const pending = new PendingIds()
    this.#pending.add(pending)
    return pending
  }

  /** Called when the `_id`s are in the store, or never will be. */
  release(pending: PendingIds): void {
    this.#pending.delete(pending)
  }

  /** Returns the entries whose `_id` is stored, or about to be by an earlier task. */
  async existing<T extends { readonly key: Uint8Array }>(entries: readonly T[]): Promise<ReadonlySet<T>> {
    const found = new Set<T>()
    const asked = entries.filter(({ key }) => !this.isGreatest(key))
    if (asked.length === 0) return found
    // Checked before querying the store: a batch now in flight may be applied, and no longer be pending, by the time
    // the store answers, and yet too late to be part of its answer.
    for (const entry of asked) if (this.#isPending(entry.key)) found.add(entry)
    const looking = this.#store.contains(asked.map(({ key }) => key))
    const areThere = looking instanceof Promise ? await looking : looking
    asked.forEach((entry, i) => {
      if (areThere[i]) found.add(entry)
    })
    return found
  }

  /** Whether any `_id` of a load is stored. REQUIRES: none is pending. */
  async isAnyStored(ids: LoadedIds): Promise<boolean> {
    if (this.isGreatest(ids.smallest)) return false
    let run: Uint8Array[] = []
    const look = async (): Promise<boolean> => {
      const areThere = await this.#store.contains(run)
      run = []
      await nextTurn()
      return areThere.includes(true)
    }
    for (const key of keysOf(ids)) if (run.push(key) === idsPerLookup && (await look())) return true
    return run.length > 0 && look()
  }

  #isPending(key: Uint8Array): boolean {
    for (const ids of this.#pending) if (ids.has(key)) return true
    return false
  }
}
