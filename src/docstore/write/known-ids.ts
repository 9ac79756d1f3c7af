/**
 * Which `_id`s there are: in the store, in batches under way, and the greatest of all, above which none has to be looked for.
 *
 * Invariant: an `_id` that is neither stored nor noted is in no document.
 */
import { nextTurn } from '../../model/time-slice.ts'
import { keysOf } from '../bulk/id-keys.ts'
import type { LoadedIds } from '../bulk/load-unit.ts'
import type { CollectionStore } from '../store/collection-store.ts'
import { compareBytes } from '../store/layout.ts'
import { PendingIds } from './pending-ids.ts'

/** Every `_id` is above it. */
const noId = new Uint8Array(0)
/** Ids of a load that are looked for without a pause. */
const idsPerLook = 500

export class KnownIds {
  readonly #store: CollectionStore
  /** Ids of inserts that are prepared and not yet applied. */
  readonly #pending = new Set<PendingIds>()
  readonly #readGreatest: () => Promise<Uint8Array | undefined>
  /** No `_id` of the collection, stored or pending, is above it. undefined until the first insert. */
  #greatest: Uint8Array | undefined

  /** @param readGreatest of the stored documents; asked by the first insert, since many who open only read */
  constructor(store: CollectionStore, readGreatest: () => Promise<Uint8Array | undefined>) {
    this.#store = store
    this.#readGreatest = readGreatest
  }

  /** To be awaited before anything else is asked. */
  async prepare(): Promise<void> {
    this.#greatest ??= (await this.#readGreatest()) ?? noId
  }

  /** True when no document has the `_id`, because it is above all others. */
  isGreatest(key: Uint8Array): boolean {
    return this.#greatest !== undefined && compareBytes(key, this.#greatest) > 0
  }

  /** @param key of a document that is, or will be, in the collection; kept where it is the greatest */
  noteGreatest(key: Uint8Array): void {
    if (this.isGreatest(key)) this.#greatest = key
  }

  /** For the `_id`s of a run of inserts: they are known until release(). */
  begin(): PendingIds {
    const pending = new PendingIds()
    this.#pending.add(pending)
    return pending
  }

  /** They are in the store, or never will be. */
  release(pending: PendingIds): void {
    this.#pending.delete(pending)
  }

  /** Those of the entries whose `_id` is stored, or about to be by an earlier task. */
  async existing<T extends { readonly key: Uint8Array }>(entries: readonly T[]): Promise<ReadonlySet<T>> {
    const found = new Set<T>()
    const asked = entries.filter(({ key }) => !this.isGreatest(key))
    if (asked.length === 0) return found
    // Before the store is asked: what is under way now may be applied, and forgotten as pending, while it answers,
    // and yet too late for its answer.
    for (const entry of asked) if (this.#isPending(entry.key)) found.add(entry)
    const looking = this.#store.areThere(asked.map(({ key }) => key))
    const areThere = looking instanceof Promise ? await looking : looking
    asked.forEach((entry, i) => {
      if (areThere[i]) found.add(entry)
    })
    return found
  }

  /** Whether one of a load's `_id`s is stored. REQUIRES: none is pending. */
  async isAnyStored(ids: LoadedIds): Promise<boolean> {
    if (this.isGreatest(ids.smallest)) return false
    let run: Uint8Array[] = []
    const look = async (): Promise<boolean> => {
      const areThere = await this.#store.areThere(run)
      run = []
      await nextTurn()
      return areThere.includes(true)
    }
    for (const key of keysOf(ids)) if (run.push(key) === idsPerLook && (await look())) return true
    return run.length > 0 && look()
  }

  #isPending(key: Uint8Array): boolean {
    for (const ids of this.#pending) if (ids.has(key)) return true
    return false
  }
}
