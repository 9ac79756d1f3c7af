/** The part of a read view that value lookups need; EngineReadView has it. */
import type { Cursor } from '../format/cursor.ts'
import type { Found } from '../format/found.ts'
import type { Memtable } from '../memtable/memtable.ts'
import type { TableMeta } from '../version/table-meta.ts'

export interface ValueView {
  /** Entries with higher sequence numbers are invisible. */
  readonly sequence: number
  /** Newest first. */
  readonly buffers: readonly { readonly memtable: Memtable }[]
  readonly version: TableSet
  readonly tables: {
    /** An open table, valid until the next call or until this code yields: use it at once. */
    table(meta: TableMeta): ValueTable
  }
  /** Finds the newest version of the key that the view sees, which may be a tombstone; false if there is none. */
  find(key: Uint8Array, into: Found): boolean
}

/** The part of a version that lookups use. Compared by identity: a set of tables never changes. */
export interface TableSet {
  readonly levels: readonly (readonly TableMeta[])[]
}

/** The part of a table that lookups use. */
export interface ValueTable {
  readonly blockCount: number
  /** A cursor over the entries of one data block, which is in memory: the table may be closed meanwhile. */
  blockCursor(block: number): Cursor
  /** @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
  section(name: string): Uint8Array | undefined
}
