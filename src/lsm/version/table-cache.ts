/**
 * Tables that are open, at most so many.
 *
 * Invariants:
 * 1. A table that somebody has pinned stays open, also beyond the limit and after drop().
 * 2. A table without a pin may be closed by the next call of any method: use it at once, or pin it.
 */
import { join } from 'node:path'
import type { BlockCache } from '../cache/block-cache.ts'
import { ioError } from '../errors.ts'
import { Table } from '../format/table.ts'
import { tableName } from '../fs/file-names.ts'
import type { FileSystem, OpenFile } from '../fs/file-system.ts'
import { hasSystemCode } from '../fs/system-error.ts'
import type { TableMeta } from './table-meta.ts'

interface Entry {
  readonly number: number
  readonly table: Table
  pins: number
  /** Tick of the last use. */
  used: number
  /** Whether nothing refers to the table any more but pins. */
  isDropped: boolean
}

export class TableCache {
  readonly #fileSystem: FileSystem
  readonly #directory: string
  readonly #blocks: BlockCache
  #maxOpenFiles: number
  readonly #entries = new Map<number, Entry>()
  /** Pinned by somebody, but no longer in the cache. */
  readonly #dropped = new Map<number, Entry>()
  #tick = 0

  constructor(fileSystem: FileSystem, directory: string, blocks: BlockCache, maxOpenFiles: number) {
    this.#fileSystem = fileSystem
    this.#directory = directory
    this.#blocks = blocks
    this.#maxOpenFiles = maxOpenFiles
  }

  /** Tables open now. */
  get size(): number {
    return this.#entries.size + this.#dropped.size
  }

  /** Bytes of memory that open tables hold beside their blocks. */
  get memoryBytes(): number {
    let bytes = 0
    for (const { table } of this.#entries.values()) bytes += table.memoryBytes
    return bytes
  }

  /** Whether the table need not be opened first. */
  isOpen({ number }: TableMeta): boolean {
    return this.#entries.has(number)
  }

  /** The table, for use until the next call. @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
  table(meta: TableMeta): Table {
    return this.#entry(meta).table
  }

  /** The table, open until unpin(). @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
  pin(meta: TableMeta): Table {
    const entry = this.#entry(meta)
    entry.pins++
    return entry.table
  }

  /** REQUIRES: once per pin(). */
  unpin(number: number): void {
    const entry = this.#entries.get(number) ?? this.#dropped.get(number)
    if (entry === undefined) return
    entry.pins--
    if (entry.pins > 0 || !entry.isDropped) return
    this.#dropped.delete(number)
    entry.table.close()
  }

  /** The table is obsolete: closes it, now or when the last pin goes. */
  drop(number: number): void {
    const entry = this.#entries.get(number)
    if (entry === undefined) return
    this.#entries.delete(number)
    if (entry.pins === 0) {
      entry.table.close()
      return
    }
    entry.isDropped = true
    this.#dropped.set(number, entry)
  }

  /** Closes everything. REQUIRES: nobody uses a table any more. */
  close(): void {
    for (const { table } of [...this.#entries.values(), ...this.#dropped.values()]) table.close()
    this.#entries.clear()
    this.#dropped.clear()
  }

  #entry(meta: TableMeta): Entry {
    const open = this.#entries.get(meta.number)
    if (open !== undefined) {
      open.used = ++this.#tick
      return open
    }
    if (this.#entries.size >= this.#maxOpenFiles) this.#evict()
    const entry = { number: meta.number, table: this.#open(meta), pins: 0, used: ++this.#tick, isDropped: false }
    this.#entries.set(meta.number, entry)
    return entry
  }

  #open(meta: TableMeta): Table {
    const path = join(this.#directory, tableName(meta.number))
    const file = this.whileOpening(() => openFile(this.#fileSystem, path))
    return Table.open(file, meta, this.#blocks)
  }

  /** Opens a file; where the process has no descriptor left for it, tables that nobody uses give up theirs. */
  whileOpening<T>(open: () => T): T {
    for (;;) {
      try {
        return open()
      } catch (error) {
        if (!lacksDescriptors(error) || !this.#relieve()) throw error
      }
    }
  }

  /** A job elsewhere has failed: if it had no descriptor left, there are some when it is tried again. */
  relieveAfter(error: unknown): void {
    if (lacksDescriptors(error)) this.#relieve()
  }

  /** Closes an eighth of the tables, and keeps fewer open from now on; false when all are in use. */
  #relieve(): boolean {
    const before = this.#entries.size
    this.#maxOpenFiles = Math.max(1, before - Math.max(1, before >>> 3))
    this.#evict()
    return this.#entries.size < before
  }

  /**
   * Makes room for one table at least: closes those that were not used for longest, an eighth of the limit at a time,
   * so that finding them costs little each.
   */
  #evict(): void {
    const idle = [...this.#entries.values()].filter((entry) => entry.pins === 0)
    idle.sort((a, b) => a.used - b.used)
    const surplus = this.#entries.size - this.#maxOpenFiles
    for (const { number, table } of idle.slice(0, surplus + Math.max(1, this.#maxOpenFiles >>> 3))) {
      this.#entries.delete(number)
      table.close()
    }
  }
}

function openFile(fileSystem: FileSystem, path: string): OpenFile {
  try {
    return fileSystem.open(path, 'read')
  } catch (error) {
    throw ioError(`Cannot open ${path}`, error, { path })
  }
}

/** The process's limit, or the system's: fewer than `maxOpenFiles` tables can be open. */
function lacksDescriptors(error: unknown): boolean {
  return hasSystemCode((error as Error).cause, 'EMFILE', 'ENFILE')
}
