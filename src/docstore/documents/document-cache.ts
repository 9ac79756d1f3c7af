/**
 * Documents of one collection that are asked for again and again, kept decoded in the room that all collections of the
 * database share.
 *
 * What stands under an ordinal never changes, and who asks knows from his view that it lives: nothing is ever
 * invalidated. Where ordinals are computed from `_id`s that is not so, and there is no room.
 *
 * Invariants:
 * 1. What is kept, what was offered and what is handed out share nothing that can be changed.
 * 2. Nothing is kept the first time it is asked for: a scan costs a mark for each document, not a copy.
 */
import type { Document } from '../../model/types.ts'
import { heapBytesOf } from './copy-document.ts'
import { type CopyPlan, copyByPlan, copyPlans } from './copy-plan.ts'
import type { DocumentRoom, Kept } from './document-room.ts'

/** What an entry costs beside its document, about. */
const overheadBytes = 128

interface Entry extends KeptDocument, Kept {}

/** A document that the cache owns. */
export interface KeptDocument {
  readonly document: Document
  /** How it is copied. */
  readonly plan: CopyPlan
  /** Length of the stored text. */
  readonly characters: number
}

let caches = 0

export class DocumentCache {
  readonly #room: DocumentRoom
  readonly #entries = new Map<number, Entry>()
  /** Makes ordinals of different collections different marks. */
  readonly #salt = Math.imul(++caches, 0x9e3779b1)
  #arePlansChecked = false
  #isClosed = false

  constructor(room: DocumentRoom) {
    this.#room = room
  }

  get documents(): number {
    return this.#entries.size
  }

  /** A copy of the document; undefined when it is not kept. */
  get(ordinal: number): Document | undefined {
    this.beginLooks()
    const kept = this.look(ordinal)
    return kept && copyByPlan(kept.document, kept.plan)
  }

  /** Before the first look() in a stretch of synchronous code: others may have changed Object.prototype meanwhile. */
  beginLooks(): void {
    this.#arePlansChecked = false
  }

  /**
   * As get(), the document itself: to be looked at, copied by its plan, and never handed to anybody who could change it.
   * REQUIRES: beginLooks()
   */
  look(ordinal: number): KeptDocument | undefined {
    const now = ++this.#room.now
    const entry = this.#entries.get(ordinal)
    if (entry === undefined) return undefined
    entry.askedAt = now
    if (!this.#arePlansChecked) this.#checkPlans()
    return entry
  }

  /**
   * What get() or look() had not, decoded meanwhile: keeps a copy if it was asked for before and there is room.
   * @param document or what decodes it, called when it is to be kept
   */
  offer(ordinal: number, document: Document | (() => Document), characters: number): void {
    const room = this.#room
    if (room.budgetBytes === 0 || this.#isClosed) return
    const before = room.lastAsked.note(ordinal + this.#salt, room.now)
    if (before === undefined || this.#entries.has(ordinal)) return
    // Most are turned away here where there is no room: before they are looked into.
    if (!room.makeRoom(Math.min(characters, room.largestBytes), before)) return
    const isDecoded = typeof document !== 'function'
    const decoded = isDecoded ? document : document()
    const heapBytes = heapBytesOf(decoded)
    if (heapBytes === undefined) return
    const bytes = heapBytes + overheadBytes
    if (bytes > room.largestBytes || !room.makeRoom(bytes, before)) return
    const plan = copyPlans.planOf(decoded)
    if (isDecoded) this.#checkPlans()
    const own = isDecoded ? copyByPlan(decoded, plan) : decoded
    const entry = { ordinal, document: own, plan, characters, bytes, askedAt: room.now, owner: this.#entries }
    room.add(entry)
  }

  /** Gives everything up, and keeps nothing any more. */
  close(): void {
    this.#isClosed = true
    this.#room.removeAll(this.#entries)
  }

  #checkPlans(): void {
    copyPlans.check()
    this.#arePlansChecked = true
  }
}
