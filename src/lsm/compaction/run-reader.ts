/**
 * A sorted run of tables as a forward-only cursor: each table is opened when the merge reaches it, read with readahead
 * and without a cache, and closed when the merge moves on to the next.
 *
 * Invariants:
 * 1. At most one table is open.
 * 2. An entry's bytes are invalid once the cursor has moved on: the memory is reused.
 */
import { join } from 'node:path'
import { BlockCache } from '../cache/block-cache.ts'
import { ioError } from '../errors.ts'
import { ReadSpace } from '../format/block-source.ts'
import type { Cursor } from '../format/cursor.ts'
import { Table } from '../format/table.ts'
import { tableName } from '../fs/file-names.ts'
import type { FileSystem, OpenFile } from '../fs/file-system.ts'
import { LevelCursor } from '../read/level-cursor.ts'
import type { TableMeta } from '../version/table-meta.ts'

const noCache = new BlockCache(0)

export class RunReader {
  /** A cursor over all tables; its owner closes the reader, too. */
  readonly cursor: Cursor
  readonly #directory: string
  readonly #fileSystem: FileSystem
  #space: ReadSpace | undefined = ReadSpace.acquire()
  #table: Table | undefined

  /** @param tables ascending, without overlap */
  constructor(tables: readonly TableMeta[], directory: string, fileSystem: FileSystem) {
    this.#directory = directory
    this.#fileSystem = fileSystem
    this.cursor = new LevelCursor(tables, (meta) => this.#open(meta))
  }

  /** May be called twice. */
  close(): void {
    this.cursor.close()
    this.#table?.close()
    this.#table = undefined
    this.#space?.release()
    this.#space = undefined
  }

  /** @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
  #open(meta: TableMeta): Cursor {
    this.#table?.close()
    this.#table = undefined
    const path = join(this.#directory, tableName(meta.number))
    let file: OpenFile
    try {
      file = this.#fileSystem.open(path, 'read')
    } catch (cause) {
      throw ioError(`Cannot open ${path}`, cause, { path })
    }
    try {
      this.#table = Table.open(file, meta, noCache)
    } catch (error) {
      file.close()
      throw error
    }
    return this.#table.cursor({ fillCache: 'none', readahead: true, space: this.#space })
  }
}
