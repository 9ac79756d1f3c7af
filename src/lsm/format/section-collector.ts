/**
 * How value filters get into a table: a collector sees every entry that is written and returns named sections. The
 * table format stores them without knowing their contents.
 */
import type { EntryRanges } from './entry.ts'

export interface SectionCollector {
  /** Entries arrive in table order. Ranges are valid only during the call. */
  add(entry: EntryRanges): void
  /** The entries since the last call form one data block. Called after every block, including the last. */
  endBlock(): void
  /**
   * Called once, after the last block. Names are short ASCII; names beginning with `table.` are reserved for the
   * format.
   */
  finish(): readonly Section[]
}

export interface Section {
  readonly name: string
  readonly bytes: Uint8Array
}
