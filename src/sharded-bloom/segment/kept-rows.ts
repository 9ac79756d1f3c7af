/**
 * Caches the bits of an open segment's most requested private rows, so that queries need not decode them again. Only
 * complete chunks are kept: they never change. CLOCK chooses the row to evict: the next one not requested since the
 * hand last passed it.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'

/** Maximum number of kept rows, 8 KiB each. */
export const maxKeptRows = 16
/** A row is kept when it is requested again with fewer requests for other unkept rows in between. */
const maxRecentSlots = 64
const noSlots = new Int32Array(0)
/** Frames of row memory left free for others. */
const spareFrames = 1024

export interface KeptRow {
  slot: number
  /** A frame of row memory. */
  readonly address: number
  /** Number of leading chunks that are decoded; whoever decodes more updates it. */
  chunks: number
  isReferenced: boolean
}

export class KeptRows {
  readonly #memory: RowMemory
  readonly #rows: KeptRow[] = []
  #hand = 0
  /** The last requested slots that are not kept, a ring. */
  #recentSlots = noSlots
  #recentCount = 0

  constructor(memory: RowMemory) {
    this.#memory = memory
  }

  /** Returns where the row is kept from now on; undefined when it was not requested recently or memory is short. */
  find(slot: number): KeptRow | undefined {
    for (const row of this.#rows) {
      if (row.slot !== slot) continue
      row.isReferenced = true
      return row
    }
    return this.#isRequestedAgain(slot) ? this.#keep(slot) : undefined
  }

  /** Frees the row memory. */
  free(): void {
    for (const { address } of this.#rows) this.#memory.free(address)
    this.#rows.length = 0
  }

  #isRequestedAgain(slot: number): boolean {
    if (this.#recentSlots === noSlots) this.#recentSlots = new Int32Array(maxRecentSlots).fill(-1)
    if (this.#recentSlots.includes(slot)) return true
    this.#recentSlots[this.#recentCount++ % maxRecentSlots] = slot
    return false
  }

  #keep(slot: number): KeptRow | undefined {
    if (this.#rows.length < maxKeptRows) {
      if (this.#memory.freeFrames <= spareFrames) return undefined
      const row: KeptRow = { slot, address: this.#memory.allocate(), chunks: 0, isReferenced: false }
      this.#rows.push(row)
      return row
    }
    const row = this.#nextVictim()
    row.slot = slot
    row.chunks = 0
    return row
  }

  /** Advances the hand to a row to evict. */
  #nextVictim(): KeptRow {
    for (;;) {
      const row = this.#rows[this.#hand]!
      this.#hand = (this.#hand + 1) % maxKeptRows
      if (!row.isReferenced) return row
      row.isReferenced = false
    }
  }
}
