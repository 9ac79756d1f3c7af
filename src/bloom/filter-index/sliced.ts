/**
 * All filters transposed: row p holds bit p of every filter, so that a query is the AND of a few rows, and one
 * operation tests 32 filters.
 *
 * Slots are divided into slabs of 512, for which a row is one cache line. A slab starts 32 slots wide and doubles, so
 * that a store of ten tables does not pay for 512.
 *
 * Writing a column touches every row, which costs the same for 32 columns as for one. New filters therefore wait, and
 * are tested one by one, until 32 of them are written together.
 *
 * Invariants:
 * 1. A filter is either waiting or written.
 * 2. The column of a free slot, or of one whose filter is waiting, may hold a removed filter's bits. They are never
 *    visible, and are cleared when the column is written.
 *
 * @see Goodwin et al., BitFunnel, 2017; Crainiceanu and Lemire, Bloofi, 2015, for the flat variant
 */
import { type Column, Slab, slabSlots, slabWords } from './slab.ts'
import { clearBit, hasAll, SlottedIndex, setBit } from './slotted-index.ts'

const maxWaiting = 32

export class SlicedFilterIndex extends SlottedIndex {
  /** Undefined for slabs without filters. */
  readonly #slabs: (Slab | undefined)[] = []
  readonly #waiting = new Map<number, Uint8Array>()

  get memoryBytes(): number {
    let bytes = this.#waiting.size * this.filterBytes
    for (const slab of this.#slabs) bytes += slab?.memoryBytes ?? 0
    return bytes
  }

  override growthOf(slot: number): number {
    const width = this.#slabs[Math.floor(slot / slabSlots)]?.width ?? 0
    return this.filterBytes + Math.max(0, Slab.widthFor(slot % slabSlots) - width) * this.bits * 4
  }

  protected add(slot: number, filter: Uint8Array): void {
    this.#waiting.set(slot, filter.slice())
    if (this.#waiting.size < maxWaiting) return
    const columns = new Map<number, Column[]>()
    for (const [waiting, bytes] of this.#waiting) {
      const slab = Math.floor(waiting / slabSlots)
      const list = columns.get(slab) ?? []
      list.push([waiting % slabSlots, bytes])
      columns.set(slab, list)
    }
    for (const [slab, list] of columns) this.#slabOf(slab).write(list)
    this.#waiting.clear()
  }

  protected drop(slot: number): void {
    if (this.#waiting.delete(slot)) return
    const number = Math.floor(slot / slabSlots)
    if (this.#slabs[number]?.erase() === 0) this.#slabs[number] = undefined
  }

  protected match(positions: Int32Array, found: Uint32Array): void {
    const filtered = this.filtered
    for (let number = 0; number < this.#slabs.length; number++) {
      const slab = this.#slabs[number]
      if (slab === undefined) continue
      const first = number * slabWords
      const { rows, width } = slab
      const end = Math.min(first + width, filtered.length)
      for (let i = first; i < end; i++) {
        let word = filtered[i]!
        for (let p = 0; word !== 0 && p < positions.length; p++) word &= rows[positions[p]! * width + (i - first)]!
        found[i] = found[i]! | word
      }
    }
    for (const [slot, filter] of this.#waiting) {
      if (hasAll(filter, positions)) setBit(found, slot)
      else clearBit(found, slot)
    }
  }

  #slabOf(number: number): Slab {
    const known = this.#slabs[number]
    if (known !== undefined) return known
    const slab = new Slab(this.bits)
    while (this.#slabs.length < number) this.#slabs.push(undefined)
    this.#slabs[number] = slab
    return slab
  }
}
