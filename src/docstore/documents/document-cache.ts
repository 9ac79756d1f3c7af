/**
 * Documents that are asked for again and again, kept decoded.
 *
 * What stands under an ordinal never changes, and who asks knows from his view that it lives: nothing is ever
 * invalidated. Where ordinals are computed from `_id`s that is not so, and the budget is 0.
 *
 * When the budget is used up, a document takes the place of one that was not asked for for longer than it took the new
 * one to be asked for again. So whoever goes round over more documents than there is room for finds all of those that are
 * kept each time, and what is asked for more often comes in at once.
 *
 * Invariants:
 * 1. What is kept, what was offered and what is handed out share nothing that can be changed.
 * 2. usedBytes ≤ budgetBytes, always.
 * 3. Nothing is kept the first time it is asked for: a scan costs a mark for each document, not a copy.
 * @see Jiang and Zhang 2002, LIRS: inter-reference recency
 */
import type { Document } from '../../model/types.ts'
import { heapBytesOf } from './copy-document.ts'
import { type CopyPlan, CopyPlans, copyByPlan } from './copy-plan.ts'

/** Documents of which is known when they were asked for last: 2 ** markBits. */
const markBits = 16
/** One document's mark may stand in any of so many places. */
const marksPerSet = 4
/** What an entry costs beside its document, about. */
const overheadBytes = 128
/** A document larger than this share of the budget would push out too many others. */
const largestShare = 16
/** Entries that are looked at to find one that may go. */
const maxLooks = 4

interface Entry extends KeptDocument {
  readonly ordinal: number
  readonly bytes: number
  /** When it was asked for last. */
  askedAt: number
}

/** A document that the cache owns. */
export interface KeptDocument {
  readonly document: Document
  /** How it is copied. */
  readonly plan: CopyPlan
  /** Length of the stored text. */
  readonly characters: number
}

export class DocumentCache {
  readonly budgetBytes: number
  readonly #entries = new Map<number, Entry>()
  /** Entries again, for the hand that goes round them and looks for one that may go. */
  readonly #clock: Entry[] = []
  #hand = 0
  #usedBytes = 0
  /** Counts what was asked for. */
  #now = 0
  readonly #lastAsked = new LastAsked()
  readonly #plans = new CopyPlans()
  #arePlansChecked = false

  /** @param budgetBytes 0 keeps nothing */
  constructor(budgetBytes: number) {
    this.budgetBytes = budgetBytes
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  get documents(): number {
    return this.#clock.length
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
    this.#now++
    const entry = this.#entries.get(ordinal)
    if (entry === undefined) return undefined
    entry.askedAt = this.#now
    if (!this.#arePlansChecked) this.#checkPlans()
    return entry
  }

  /**
   * What get() or look() had not, decoded meanwhile: keeps a copy if it was asked for before and there is room.
   * @param document or what decodes it, called when it is to be kept
   */
  offer(ordinal: number, document: Document | (() => Document), characters: number): void {
    if (this.budgetBytes === 0) return
    const before = this.#lastAsked.note(ordinal, this.#now)
    if (before === undefined || this.#entries.has(ordinal)) return
    // Most are turned away here where there is no room: before they are looked into.
    if (!this.#makeRoom(Math.min(characters, this.budgetBytes / largestShare), before)) return
    const isDecoded = typeof document !== 'function'
    const decoded = isDecoded ? document : document()
    const heapBytes = heapBytesOf(decoded)
    if (heapBytes === undefined) return
    const bytes = heapBytes + overheadBytes
    if (bytes > this.budgetBytes / largestShare || !this.#makeRoom(bytes, before)) return
    const plan = this.#plans.planOf(decoded)
    if (isDecoded) this.#checkPlans()
    const own = isDecoded ? copyByPlan(decoded, plan) : decoded
    const entry = { ordinal, document: own, plan, characters, bytes, askedAt: this.#now }
    this.#entries.set(ordinal, entry)
    this.#clock.push(entry)
    this.#usedBytes += bytes
  }

  #checkPlans(): void {
    this.#plans.check()
    this.#arePlansChecked = true
  }

  /** Gives up what was not asked for since `before`; false when that is not enough. */
  #makeRoom(bytes: number, before: number): boolean {
    for (let looks = 0; this.#usedBytes + bytes > this.budgetBytes; ) {
      if (looks++ === maxLooks) return false
      if (this.#hand >= this.#clock.length) this.#hand = 0
      const entry = this.#clock[this.#hand]!
      if (entry.askedAt >= before) {
        this.#hand++
      } else {
        this.#remove(entry)
        looks = 0
      }
    }
    return true
  }

  /** REQUIRES: it is the one at the hand. */
  #remove(entry: Entry): void {
    const last = this.#clock.pop()!
    if (last !== entry) this.#clock[this.#hand] = last
    this.#entries.delete(entry.ordinal)
    this.#usedBytes -= entry.bytes
  }
}

/**
 * When documents were asked for last, of some of those that were asked for lately: sets of a few marks each.
 *
 * A later mark takes the place of the earlier of two, by chance. If it took that of the earliest, whoever goes round over
 * five documents of one set of four would find none of them marked, ever.
 */
class LastAsked {
  #marks: Uint32Array | undefined
  #times: Float64Array | undefined
  #chance = 1

  /** @returns when it was asked for before, if that is known */
  note(ordinal: number, now: number): number | undefined {
    this.#marks ??= new Uint32Array(1 << markBits)
    this.#times ??= new Float64Array(1 << markBits)
    const marks = this.#marks
    const times = this.#times
    // Two ordinals 2 ** 32 apart are taken for one: a document is then kept a little too early.
    const mark = (ordinal + 1) >>> 0
    const first = (Math.imul(mark, 0x9e3779b1) >>> (32 - markBits)) & -marksPerSet
    for (let slot = first; slot < first + marksPerSet; slot++) {
      if (marks[slot] === mark) {
        const before = times[slot]
        times[slot] = now
        return before
      }
      // No mark is ever taken away: behind an empty place there is none.
      if (marks[slot] === 0) return this.#mark(slot, mark, now)
    }
    this.#chance = Math.imul(this.#chance, 0x915f77f5) + 0x3c6ef35f
    const one = first + (this.#chance >>> 30)
    const other = first + ((this.#chance >>> 28) & (marksPerSet - 1))
    return this.#mark(times[one]! < times[other]! ? one : other, mark, now)
  }

  #mark(slot: number, mark: number, now: number): undefined {
    this.#marks![slot] = mark
    this.#times![slot] = now
  }
}
