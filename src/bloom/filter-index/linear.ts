/** Tests one filter after another: correct by inspection, the reference for the other indexes. */
import { hasAll, SlottedIndex, setBit } from './slotted-index.ts'

export class LinearFilterIndex extends SlottedIndex {
  readonly #filters = new Map<number, Uint8Array>()

  get memoryBytes(): number {
    return this.#filters.size * this.filterBytes
  }

  protected add(slot: number, filter: Uint8Array): void {
    this.#filters.set(slot, filter.slice())
  }

  protected drop(slot: number): void {
    this.#filters.delete(slot)
  }

  protected match(positions: Int32Array, found: Uint32Array): void {
    for (const [slot, filter] of this.#filters) {
      if (hasAll(filter, positions)) setBit(found, slot)
    }
  }
}
