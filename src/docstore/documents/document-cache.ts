/**
 * Documents that are asked for again and again, kept decoded: as objects, and where there is no room for so many, packed.
 *
 * What stands under an ordinal never changes, and who asks knows from his view that it lives: nothing is ever
 * invalidated. Where ordinals are computed from `_id`s that is not so, and the budget is 0.
 *
 * When the budget is used up, a document takes the place of one that was not asked for for longer than it took the new
 * one to be asked for again, or others are packed for it. So whoever goes round over more documents than there is room for
 * finds all of those that are kept each time, and what is asked for more often comes in at once. A packed document becomes
 * an object again when there is room, or for others that were not asked for for much longer.
 *
 * Invariants:
 * 1. What is kept, what was offered and what is handed out share nothing that can be changed.
 * 2. usedBytes ≤ budgetBytes, always.
 * 3. Nothing is kept the first time it is asked for: a scan costs a mark for each document, not a copy.
 * @see Jiang and Zhang 2002, LIRS: inter-reference recency
 */
import type { Document } from '../../model/types.ts'
import { heapBytesOf, heapBytesOfString } from './copy-document.ts'
import { type CopyPlan, CopyPlans, copyByPlan } from './copy-plan.ts'
import { packDocument, unpackDocument } from './packed-document.ts'

/** Documents of which is known when they were asked for last: 2 ** markBits. */
const markBits = 16
/** Of these, a later one takes the place of the earliest: in sets of one, two would turn each other out for ever. */
const marksPerSet = 4
/** What an entry costs beside its document, about. */
const overheadBytes = 160
/** A document larger than this share of the budget would push out too many others. */
const largestShare = 16
/** Entries that are looked at to find one that may go, to keep a document; and to make a packed one an object again. */
const maxLooks = 4
const maxLooksToUnpack = 1
/** To unpack one may mean to pack another, which takes four times what is then saved each time. */
const asksToUnpack = 4
/** Where one is unpacked, those are packed that were not asked for for so many times longer than it was on average. */
const longerRest = 4
/** And those are given up that were not asked for while as many were asked for as are kept, so many times over. */
const roundsOfRest = 16
/** Documents with longer records are not packed: one string of theirs would keep too much in memory, see packed-document.ts. */
const maxPackedCharacters = 4096

interface Entry extends KeptDocument {
  readonly ordinal: number
  /** Of the object, and of what is kept. */
  readonly objectBytes: number
  bytes: number
  content: Document | string
  canBePacked: boolean
  /** How often it was asked for since it was packed. */
  asksPacked: number
  packedAt: number
  /** When it was asked for last. */
  askedAt: number
}

/** A document that the cache owns. */
export interface KeptDocument {
  /** A string when it is packed. */
  readonly content: Document | string
  /** How it is copied. */
  readonly plan: CopyPlan
  /** Length of the stored text. */
  readonly characters: number
}

/** A document of the caller's own. REQUIRES: look() gave it in the same stretch of synchronous code. */
export function copyKept({ content, plan }: KeptDocument): Document {
  return typeof content === 'string' ? unpackDocument(content, plan) : copyByPlan(content, plan)
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
    return kept && copyKept(kept)
  }

  /** Before the first look() in a stretch of synchronous code: others may have changed Object.prototype meanwhile. */
  beginLooks(): void {
    this.#arePlansChecked = false
  }

  /**
   * As get(), the document itself: to be looked at, copied by copyKept(), and never handed to anybody who could change it.
   * REQUIRES: beginLooks()
   */
  look(ordinal: number): KeptDocument | undefined {
    this.#now++
    const entry = this.#entries.get(ordinal)
    if (entry === undefined) return undefined
    if (!this.#arePlansChecked) this.#checkPlans()
    entry.askedAt = this.#now
    if (typeof entry.content === 'string' && ++entry.asksPacked % asksToUnpack === 0) this.#unpack(entry)
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
    const most = this.budgetBytes / largestShare
    if (!this.#makeRoom(Math.min(characters, most), this.#now, before, maxLooks)) return
    const isDecoded = typeof document !== 'function'
    const decoded = isDecoded ? document : document()
    const heapBytes = heapBytesOf(decoded)
    if (heapBytes === undefined) return
    const objectBytes = heapBytes + overheadBytes
    if (objectBytes > most) return
    const plan = this.#plans.planOf(decoded)
    if (isDecoded) this.#checkPlans()
    const entry: Entry = {
      ordinal,
      objectBytes,
      bytes: objectBytes,
      content: decoded,
      asksPacked: 0,
      packedAt: this.#now,
      canBePacked: characters <= maxPackedCharacters,
      plan,
      characters,
      askedAt: this.#now
    }
    // Others were packed, or will be, if there is no room for the object.
    if (this.#usedBytes + objectBytes > this.budgetBytes) pack(entry, this.#now)
    if (!this.#makeRoom(entry.bytes, this.#now, before, maxLooks)) return
    if (isDecoded && entry.content === decoded) entry.content = copyByPlan(decoded, plan)
    this.#entries.set(ordinal, entry)
    this.#clock.push(entry)
    this.#usedBytes += entry.bytes
  }

  #checkPlans(): void {
    this.#plans.check()
    this.#arePlansChecked = true
  }

  /** Keeps a packed document as an object if there is room, or others are hardly asked for. */
  #unpack(entry: Entry): void {
    const bytes = entry.objectBytes - entry.bytes
    const now = this.#now
    const packedBefore = now - (longerRest * (now - entry.packedAt)) / entry.asksPacked
    const givenUpBefore = now - roundsOfRest * this.documents
    if (!this.#makeRoom(bytes, packedBefore, givenUpBefore, maxLooksToUnpack)) return
    entry.content = copyKept(entry)
    entry.bytes = entry.objectBytes
    this.#usedBytes += bytes
  }

  /**
   * Packs what was not asked for since `packedBefore`, and gives up what was not since `givenUpBefore`; false when that is
   * not enough.
   */
  #makeRoom(bytes: number, packedBefore: number, givenUpBefore: number, maxLooks: number): boolean {
    for (let looks = 0; this.#usedBytes + bytes > this.budgetBytes; ) {
      if (looks++ === maxLooks) return false
      if (this.#hand >= this.#clock.length) this.#hand = 0
      const entry = this.#clock[this.#hand]
      if (entry === undefined) return false
      if (entry.askedAt < givenUpBefore) {
        this.#remove(entry)
        looks = 0
        continue
      }
      this.#hand++
      if (entry.askedAt >= packedBefore) continue
      this.#usedBytes -= entry.bytes
      if (pack(entry, this.#now)) looks = 0
      this.#usedBytes += entry.bytes
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

/** @returns false when it is packed, or would not be smaller */
function pack(entry: Entry, now: number): boolean {
  const { content } = entry
  if (typeof content === 'string' || !entry.canBePacked) return false
  const packed = packDocument(content, entry.plan)
  const bytes = overheadBytes + heapBytesOfString(packed)
  entry.canBePacked = bytes < entry.objectBytes
  if (!entry.canBePacked) return false
  entry.content = packed
  entry.asksPacked = 0
  entry.packedAt = now
  entry.bytes = bytes
  return true
}

/** When documents were asked for last, of some of those that were asked for lately: sets of a few marks each. */
class LastAsked {
  #marks: Uint32Array | undefined
  #times: Float64Array | undefined

  /** @returns when it was asked for before, if that is known */
  note(ordinal: number, now: number): number | undefined {
    this.#marks ??= new Uint32Array(1 << markBits)
    this.#times ??= new Float64Array(1 << markBits)
    const marks = this.#marks
    const times = this.#times
    // Two ordinals 2 ** 32 apart are taken for one: a document is then kept a little too early.
    const mark = (ordinal + 1) >>> 0
    const first = (Math.imul(mark, 0x9e3779b1) >>> (32 - markBits)) & -marksPerSet
    let oldest = first
    for (let slot = first; slot < first + marksPerSet; slot++) {
      if (marks[slot] === mark) {
        const before = times[slot]
        times[slot] = now
        return before
      }
      if (times[slot]! < times[oldest]!) oldest = slot
    }
    marks[oldest] = mark
    times[oldest] = now
    return undefined
  }
}
