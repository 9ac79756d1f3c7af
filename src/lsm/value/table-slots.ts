/** Assigns slots of the filter index to tables. */
import type { TableMeta } from '../version/table-meta.ts'
import type { TableValues } from './table-values.ts'
import type { TableSet } from './value-view.ts'

export interface ValueSlot {
  /** Slot number in the filter index. */
  readonly number: number
  readonly meta: TableMeta
  /** Undefined until loaded. */
  values: TableValues | undefined
  /** There was no memory for its filter. */
  isOnDisk: boolean
  /** Its filter exists but cannot be read. */
  isDamaged: boolean
}

export class TableSlots {
  readonly #byTable = new Map<number, ValueSlot>()
  readonly #slots: (ValueSlot | undefined)[] = []
  readonly #free: number[] = []

  /** Slots in use. */
  all(): IterableIterator<ValueSlot> {
    return this.#byTable.values()
  }

  of(table: TableMeta): ValueSlot | undefined {
    return this.#byTable.get(table.number)
  }

  at(number: number): ValueSlot | undefined {
    return this.#slots[number]
  }

  isCurrent(slot: ValueSlot): boolean {
    return this.#slots[slot.number] === slot
  }

  /** Frees the slots of all tables that are not in the version; returns them. */
  release(version: TableSet): ValueSlot[] {
    const live = new Set<number>()
    for (const tables of version.levels) for (const table of tables) live.add(table.number)
    const released = [...this.#byTable.values()].filter((slot) => !live.has(slot.meta.number))
    for (const { meta, number } of released) {
      this.#byTable.delete(meta.number)
      this.#slots[number] = undefined
      this.#free.push(number)
    }
    // Low slots are reused first: this keeps the index compact.
    this.#free.sort((a, b) => b - a)
    return released
  }

  /** Assigns slots to the version's tables that have none; returns them, the newest table's last. */
  assign(version: TableSet): ValueSlot[] {
    const unknown: TableMeta[] = []
    for (const tables of version.levels) {
      for (const table of tables) if (!this.#byTable.has(table.number)) unknown.push(table)
    }
    return unknown.sort((a, b) => a.largestSequence - b.largestSequence).map((meta) => this.#add(meta))
  }

  #add(meta: TableMeta): ValueSlot {
    const number = this.#free.pop() ?? this.#slots.length
    const slot: ValueSlot = { number, meta, values: undefined, isOnDisk: false, isDamaged: false }
    this.#slots[number] = slot
    this.#byTable.set(meta.number, slot)
    return slot
  }
}
