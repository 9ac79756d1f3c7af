/**
 * How filters over values get into a table: something that sees every entry on its way into the table and leaves named
 * sections behind. The table format stores them, and knows nothing of what is in them.
 */
import type { EntryRanges } from './entry.ts'

export interface SectionCollector {
  /** Entries come in the table's order. The ranges are valid during the call only. */
  add(entry: EntryRanges): void
  /** The entries since the last call are one data block. Called after every block, the last one included. */
  endBlock(): void
  /** Called once, after the last block. Names are short ASCII; names that begin with `table.` are the format's own. */
  finish(): readonly Section[]
}

export interface Section {
  readonly name: string
  readonly bytes: Uint8Array
}
