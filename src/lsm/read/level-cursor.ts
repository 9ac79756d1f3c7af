/**
 * A cursor over the tables of one sorted level, which opens each table on reaching it: at most one is open at a time.
 *
 * REQUIRES: tables ascend and do not overlap.
 */
import type { Block } from '../format/block.ts'
import type { BlockTest, Cursor } from '../format/cursor.ts'
import { compareKeys, EntryKind } from '../format/entry.ts'
import type { TableMeta } from '../version/table-meta.ts'

const nothing = new Uint8Array(0)

export class LevelCursor implements Cursor {
  readonly #tables: readonly TableMeta[]
  readonly #openTable: (table: TableMeta) => Cursor
  readonly #onClosed: (() => void) | undefined
  /** Index of the open table; out of range if none is. */
  #index = -1
  #table: Cursor | undefined

  /**
   * @param openTable returns a cursor over a table; it is closed when the level moves on to the next
   * @param onClosed called when it has been closed
   */
  constructor(tables: readonly TableMeta[], openTable: (table: TableMeta) => Cursor, onClosed?: () => void) {
    this.#tables = tables
    this.#openTable = openTable
    this.#onClosed = onClosed
  }

  get isValid(): boolean {
    return this.#table?.isValid ?? false
  }

  get keyBytes(): Uint8Array {
    return this.#table?.keyBytes ?? nothing
  }

  get keyStart(): number {
    return this.#table?.keyStart ?? 0
  }

  get keyEnd(): number {
    return this.#table?.keyEnd ?? 0
  }

  get sequence(): number {
    return this.#table?.sequence ?? 0
  }

  get kind(): EntryKind {
    return this.#table?.kind ?? EntryKind.tombstone
  }

  get valueBytes(): Uint8Array {
    return this.#table?.valueBytes ?? nothing
  }

  get valueStart(): number {
    return this.#table?.valueStart ?? 0
  }

  get valueEnd(): number {
    return this.#table?.valueEnd ?? 0
  }

  get block(): Block | undefined {
    return this.#table?.block
  }

  seekToFirst(): void {
    this.#open(0)?.seekToFirst()
    this.#skipForwards()
  }

  seekToLast(): void {
    this.#open(this.#tables.length - 1)?.seekToLast()
    this.#skipBackwards()
  }

  seek(target: Uint8Array): void {
    this.#open(this.#firstReaching(target))?.seek(target)
    this.#skipForwards()
  }

  seekBefore(target: Uint8Array): void {
    const reaching = this.#firstReaching(target)
    // If the first table that reaches the target begins at or after it, the entry is the last of the previous table.
    const table = this.#tables[reaching]
    const isWithin = table !== undefined && compareKeys(table.smallest, target) < 0
    if (isWithin) this.#open(reaching)?.seekBefore(target)
    else this.#open(reaching - 1)?.seekToLast()
    this.#skipBackwards()
  }

  next(): void {
    this.#table?.next()
    this.#skipForwards()
  }

  previous(): void {
    this.#table?.previous()
    this.#skipBackwards()
  }

  skipBlocks(mayHold: BlockTest, limit: Uint8Array | undefined): void {
    const table = this.#table
    if (table?.skipBlocks === undefined) table?.next()
    else table.skipBlocks(mayHold, limit)
    this.#skipForwards()
  }

  close(): void {
    this.#table?.close()
    this.#table = undefined
    this.#index = -1
    this.#onClosed?.()
  }

  /** Index of the first table with a key ≥ target, or the number of tables. */
  #firstReaching(target: Uint8Array): number {
    let low = 0
    let high = this.#tables.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareKeys(this.#tables[middle]!.largest, target) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Makes this the open table; closes the open one if there is no such table. */
  #open(index: number): Cursor | undefined {
    if (index === this.#index && this.#table !== undefined) return this.#table
    this.close()
    const table = this.#tables[index]
    if (table === undefined) return undefined
    this.#table = this.#openTable(table)
    this.#index = index
    return this.#table
  }

  #skipForwards(): void {
    while (this.#table !== undefined && !this.#table.isValid) this.#open(this.#index + 1)?.seekToFirst()
  }

  #skipBackwards(): void {
    while (this.#table !== undefined && !this.#table.isValid) this.#open(this.#index - 1)?.seekToLast()
  }
}
