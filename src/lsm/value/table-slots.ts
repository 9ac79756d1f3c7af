/** Which table has which slot of the filter index. */
import type { TableMeta } from '../version/table-meta.ts'
import type { TableValues } from './table-values.ts'
import type { TableSet } from './value-view.ts'

export interface ValueSlot {
  /** In the filter index. */
  readonly number: number
  readonly meta: TableMeta
  /** Undefined until loaded. */
  values: TableValues | undefined
  /** There was no memory for its filter. */
  isOnDisk: boolean
  /** It has a filter that cannot be read. */
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

  /** Takes the slots from all tables that are not of the version; returns them. */
  release(version: TableSet): ValueSlot[] {
    const live = new Set<number>()
    for (const tables of version.levels) for (const table of tables) live.add(table.number)
    const released = [...this.#byTable.values()].filter((slot) => !live.has(slot.meta.number))
    for (const { meta, number } of released) {
      this.#byTable.delete(meta.number)
      this.#slots[number] = undefined
      this.#free.push(number)
    }
    // Low slots are used first: they keep the index's memory together.
    this.#free.sort((a, b) => b - a)
    return released
  }

  /** Gives slots to the tables of the version that have none; returns them, that of the newest table last. */
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
