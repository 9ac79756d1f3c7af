/**
 * How filters over values get into a table: something that sees every entry on its way into the table and leaves named
 * sections behind. The table format stores them, and knows nothing of what is in them.
 */
import type { EntryKind } from './entry.ts'

export interface SectionCollector {
  /** Entries come in the table's order. The byte ranges are valid during the call only. */
  add(
    keyBytes: Uint8Array,
    keyStart: number,
    keyEnd: number,
    sequence: number,
    kind: EntryKind,
    valueBytes: Uint8Array,
    valueStart: number,
    valueEnd: number
  ): void
  /** The entries since the last call are one data block. Called after every block, the last one included. */
  endBlock(): void
  /** Called once, after the last block. Names are short ASCII; names that begin with `table.` are the format's own. */
  finish(): readonly Section[]
}

export interface Section {
  readonly name: string
  readonly bytes: Uint8Array
}
