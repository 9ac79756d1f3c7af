/**
 * The open tables, up to a limit.
 *
 * Invariants:
 * 1. A pinned table stays open, even beyond the limit and after drop().
 * 2. An unpinned table may be closed by the next call of any method: use it at once, or pin it. If the process runs out
 *    of descriptors elsewhere, unpinned tables are closed, too, except the one used last.
 */
import { join } from 'node:path'
import type { BlockCache } from '../cache/block-cache.ts'
import { ioError } from '../errors.ts'
import { Table } from '../format/table.ts'
import { tableName } from '../fs/file-names.ts'
import type { FileSystem, OpenFile } from '../fs/file-system.ts'
import { type SparingFileSystem, sparing } from '../fs/sparing-file-system.ts'
import type { TableMeta } from './table-meta.ts'

interface Entry {
  readonly number: number
  readonly table: Table
  pins: number
  /** Tick of the last use. */
  used: number
  /** Whether only pins refer to the table. */
  isDropped: boolean
}

export class TableCache {
  readonly #fileSystem: SparingFileSystem
  /** The directory with a separator: joining paths takes about as long as opening a file. */
  readonly #prefix: string
  readonly #blocks: BlockCache
  #maxOpenFiles: number
  readonly #entries = new Map<number, Entry>()
  /** Dropped tables that are still pinned. */
  readonly #dropped = new Map<number, Entry>()
  readonly #unregister: () => void
  #tick = 0

  constructor(fileSystem: FileSystem, directory: string, blocks: BlockCache, maxOpenFiles: number) {
    this.#fileSystem = sparing(fileSystem)
    this.#unregister = this.#fileSystem.onShortage(() => this.#giveBack())
    this.#prefix = join(directory, '/')
    this.#blocks = blocks
    this.#maxOpenFiles = maxOpenFiles
  }

  /** Number of open tables. */
  get size(): number {
    return this.#entries.size + this.#dropped.size
  }

  /** Memory held by open tables, excluding their blocks. */
  get memoryBytes(): number {
    let bytes = 0
    for (const { table } of this.#entries.values()) bytes += table.memoryBytes
    return bytes
  }

  /** Whether the table is already open. */
  isOpen({ number }: TableMeta): boolean {
    return this.#entries.has(number)
  }

  /** Returns the table, valid until the next call. @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
  table(meta: TableMeta): Table {
    return this.#entry(meta).table
  }

  /** Returns the table, open until unpin(). @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
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

  /** Closes an obsolete table, now or at the last unpin(). */
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

  /** Closes all tables. REQUIRES: no table is in use. */
  close(): void {
    for (const { table } of [...this.#entries.values(), ...this.#dropped.values()]) table.close()
    this.#entries.clear()
    this.#dropped.clear()
    this.#unregister()
  }

  #entry(meta: TableMeta): Entry {
    const open = this.#entries.get(meta.number)
    if (open !== undefined) {
      open.used = ++this.#tick
      return open
    }
    if (this.#entries.size >= this.#maxOpenFiles) this.#evict()
    // Before it is opened: the caller is done with the table used last.
    const used = ++this.#tick
    const entry = { number: meta.number, table: this.#open(meta), pins: 0, used, isDropped: false }
    this.#entries.set(meta.number, entry)
    return entry
  }

  #open(meta: TableMeta): Table {
    const path = this.#prefix + tableName(meta.number)
    return Table.open(openFile(this.#fileSystem, path), meta, this.#blocks)
  }

  /**
   * Closes an eighth of the tables and lowers the limit accordingly, because fewer than `maxOpenFiles` can be open;
   * false if all are in use.
   */
  #giveBack(): boolean {
    const before = this.#entries.size
    this.#maxOpenFiles = Math.max(1, before - Math.max(1, before >>> 3))
    this.#evict(this.#tick)
    return this.#entries.size < before
  }

  /**
   * Makes room for at least one table: closes the least recently used ones, an eighth of the limit at a time, which
   * amortizes the cost of finding them.
   * @param kept use of a table that stays open
   */
  #evict(kept?: number): void {
    const idle = [...this.#entries.values()].filter((entry) => entry.pins === 0 && entry.used !== kept)
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
