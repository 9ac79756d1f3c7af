/**
 * Bits of an open segment's private rows that are asked again and again, so that they are not decoded for every question.
 * Only complete chunks are kept, which never change. Which row makes room for another is decided by the clock algorithm: the
 * next one that was not asked since the hand came by last.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'

/** Rows that are kept at most, of 8 KiB each. */
export const maxKeptRows = 16
/** A row is kept when it is asked again, with fewer questions for others in between. */
const maxAskedSlots = 64
/** Frames of row memory that are left to others. */
const spareFrames = 1024

export interface KeptRow {
  slot: number
  /** A frame of row memory. */
  readonly address: number
  /** The first so many chunks of the row are there; whoever decodes more says so here. */
  chunks: number
  isAsked: boolean
}

export class KeptRows {
  readonly #memory: RowMemory
  readonly #rows: KeptRow[] = []
  #hand = 0
  /** Slots that were asked last and are not kept, a ring. */
  readonly #asked = new Int32Array(maxAskedSlots).fill(-1)
  #askedCount = 0

  constructor(memory: RowMemory) {
    this.#memory = memory
  }

  /** Where the row is kept from now on; undefined where it is not: it was not asked lately, or memory is short. */
  find(slot: number): KeptRow | undefined {
    for (const row of this.#rows) {
      if (row.slot !== slot) continue
      row.isAsked = true
      return row
    }
    return this.#isAskedAgain(slot) ? this.#keep(slot) : undefined
  }

  /** Gives the memory back. */
  free(): void {
    for (const { address } of this.#rows) this.#memory.free(address)
    this.#rows.length = 0
  }

  #isAskedAgain(slot: number): boolean {
    if (this.#asked.includes(slot)) return true
    this.#asked[this.#askedCount++ % maxAskedSlots] = slot
    return false
  }

  #keep(slot: number): KeptRow | undefined {
    if (this.#rows.length < maxKeptRows) {
      if (this.#memory.freeFrames <= spareFrames) return undefined
      const row: KeptRow = { slot, address: this.#memory.allocate(), chunks: 0, isAsked: false }
      this.#rows.push(row)
      return row
    }
    const row = this.#unasked()
    row.slot = slot
    row.chunks = 0
    return row
  }

  /** Moves the hand on. */
  #unasked(): KeptRow {
    for (;;) {
      const row = this.#rows[this.#hand]!
      this.#hand = (this.#hand + 1) % maxKeptRows
      if (!row.isAsked) return row
      row.isAsked = false
    }
  }
}
