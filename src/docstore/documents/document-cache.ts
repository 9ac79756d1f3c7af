/**
 * Caches decoded documents of one collection that are read repeatedly, in memory shared by all collections of the
 * database.
 *
 * The document at an ordinal never changes, and readers know from their view that it is live, so nothing is ever
 * invalidated. This does not hold where ordinals are computed from `_id`s; such collections get no cache memory.
 *
 * Invariants:
 * 1. Cached documents, offered documents and returned documents share nothing mutable.
 * 2. Nothing is cached on its first read: a scan costs a mark per document, not a copy.
 */
import type { Document } from '../../model/types.ts'
import { heapBytesOf } from './copy-document.ts'
import { type CopyPlan, copyByPlan, copyPlans } from './copy-plan.ts'
import type { CacheEntry, DocumentCacheBudget } from './document-cache-budget.ts'

/** Approximate overhead of an entry beside its document. */
const overheadBytes = 128

interface Entry extends CachedDocument, CacheEntry {}

/** A document owned by the cache. */
export interface CachedDocument {
  readonly document: Document
  /** How to copy it. */
  readonly plan: CopyPlan
  /** Length of the stored text. */
  readonly characters: number
}

let caches = 0

export class DocumentCache {
  readonly #budget: DocumentCacheBudget
  readonly #entries = new Map<number, Entry>()
  /** Distinguishes the marks of different collections with equal ordinals. */
  readonly #salt = Math.imul(++caches, 0x9e3779b1)
  /** The stretch of code in which copy() has checked the plans. */
  #checkedIn = -1
  #isClosed = false

  constructor(budget: DocumentCacheBudget) {
    this.#budget = budget
  }

  get documents(): number {
    return this.#entries.size
  }

  /** Returns a copy of the document, which is the caller's; undefined if it is not cached. */
  get(ordinal: number): Pick<CachedDocument, 'document' | 'characters'> | undefined {
    const kept = this.lookUp(ordinal)
    if (kept === undefined) return undefined
    copyPlans.check()
    return { document: copyByPlan(kept.document, kept.plan), characters: kept.characters }
  }

  /** Like get(), but returns the cached document itself: it must only be read, and never exposed to callers. */
  lookUp(ordinal: number): CachedDocument | undefined {
    const now = ++this.#budget.now
    const entry = this.#entries.get(ordinal)
    if (entry !== undefined) entry.accessedAt = now
    return entry
  }

  /** @param stretch a different number whenever other code may have run, and so have changed Object.prototype */
  copy({ document, plan }: CachedDocument, stretch: number): Document {
    if (stretch !== this.#checkedIn) {
      copyPlans.check()
      this.#checkedIn = stretch
    }
    return copyByPlan(document, plan)
  }

  /**
   * Called with a decoded document that get() or lookUp() did not have: caches a copy if it was requested before and
   * there is room.
   * @param document or a function that decodes it, called only if it gets cached
   */
  offer(ordinal: number, document: Document | (() => Document), characters: number): void {
    const budget = this.#budget
    if (budget.budgetBytes === 0 || this.#isClosed) return
    const before = budget.accessHistory.note(ordinal + this.#salt, budget.now)
    if (before === undefined || this.#entries.has(ordinal)) return
    // When memory is full, most documents are rejected here, before they are examined.
    if (!budget.makeRoom(Math.min(characters, budget.largestBytes), before)) return
    const isDecoded = typeof document !== 'function'
    const decoded = isDecoded ? document : document()
    const heapBytes = heapBytesOf(decoded)
    if (heapBytes === undefined) return
    const bytes = heapBytes + overheadBytes
    if (bytes > budget.largestBytes || !budget.makeRoom(bytes, before)) return
    const plan = copyPlans.planOf(decoded)
    if (isDecoded) copyPlans.check()
    const own = isDecoded ? copyByPlan(decoded, plan) : decoded
    const entry = { ordinal, document: own, plan, characters, bytes, accessedAt: budget.now, owner: this.#entries }
    budget.add(entry)
  }

  /** Drops all entries, and caches nothing from now on. */
  close(): void {
    this.#isClosed = true
    this.#budget.removeAll(this.#entries)
  }
}
