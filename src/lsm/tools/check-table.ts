/**
 * Reads a table from its first block to its footer and checks it for consistency, with itself and with the manifest.
 *
 * Blocks are read from the file, bypassing all caches. A damaged block is reported and skipped; properties of the
 * whole table are then not compared.
 */
import { BlockCursor } from '../format/block-cursor.ts'
import type { Cursor } from '../format/cursor.ts'
import { compareKeys } from '../format/entry.ts'
import { KeyFilter, keyHash } from '../format/key-filter.ts'
import { keyFilterName, propertiesName } from '../format/metaindex.ts'
import { readProperties, type TableProperties } from '../format/properties.ts'
import { TableFile } from '../format/table-file.ts'
import type { OpenFile } from '../fs/file-system.ts'
import type { TableMeta } from '../version/table-meta.ts'
import { differences, EntryTally } from './entry-tally.ts'
import type { ProblemList } from './problems.ts'

/** An additional check of each entry: the value sections. */
export interface EntryCheck {
  entry(cursor: Cursor): void
  /** The entries since the last call form data block `block`. Not called for a block that cannot be read. */
  endBlock(block: number): void
  /** Called after the last block. */
  finish(): void
}

export class TableCheck {
  readonly table: TableFile
  readonly tally = new EntryTally()
  readonly #meta: TableMeta
  readonly #problems: ProblemList
  #filter: KeyFilter | undefined
  #properties: TableProperties | undefined
  #isReadable = true
  /** Number of keys that the filter denies. */
  #denied = 0

  private constructor(meta: TableMeta, table: TableFile, problems: ProblemList) {
    this.#meta = meta
    this.table = table
    this.#problems = problems
    this.#readSections()
  }

  /**
   * Undefined if the file cannot be opened as this table, which is added to the problems. The caller closes the file.
   */
  static open(file: OpenFile, meta: TableMeta, problems: ProblemList): TableCheck | undefined {
    try {
      const bytes = file.size()
      if (bytes === meta.bytes) return new TableCheck(meta, TableFile.open(file, meta).file, problems)
      problems.add('table', file.path, `the file has ${bytes} bytes, but ${meta.bytes} according to the manifest`)
    } catch (error) {
      problems.addError('table', file.path, error)
    }
    return undefined
  }

  /** Whether everything that reads need, except values, was readable so far. */
  get isReadable(): boolean {
    return this.#isReadable
  }

  /** Checks the data blocks; yields after each, and has to be run to its end. */
  *run(extra: EntryCheck | undefined): Generator<void, void> {
    const { table } = this
    const cursor = new BlockCursor()
    for (let block = 0; block < table.index.count; block++) {
      try {
        cursor.load(table.readBlock(block))
        this.#checkBlock(cursor, block, extra)
        extra?.endBlock(block)
      } catch (error) {
        this.#problems.addError('block', table.path, error)
        this.#isReadable = false
      }
      yield
    }
    extra?.finish()
    this.#finish()
  }

  #readSections(): void {
    const { path } = this.table
    for (const name of this.table.sectionNames) {
      const kind = name === keyFilterName ? 'key-filter' : name === propertiesName ? 'table' : 'values'
      try {
        const bytes = this.table.section(name)
        if (bytes === undefined) continue
        if (name === keyFilterName) this.#filter = KeyFilter.read(bytes)
        if (name === propertiesName) this.#properties = readProperties(bytes, path)
      } catch (error) {
        this.#problems.addError(kind, path, error)
        if (kind !== 'values') this.#isReadable = false
      }
    }
  }

  #checkBlock(cursor: BlockCursor, block: number, extra: EntryCheck | undefined): void {
    const { index } = this.table
    const { tally } = this
    let isFirst = true
    for (cursor.seekToFirst(); cursor.isValid; cursor.next()) {
      const { keyBytes, keyStart, keyEnd, sequence } = cursor
      if (!tally.isInOrder(cursor)) this.#add(block, `an entry with sequence ${sequence} is not after the previous one`)
      if (tally.isNewKey(cursor) && this.#filter?.mayContain(keyHash(keyBytes, keyStart, keyEnd)) === false) {
        this.#denied++
      }
      tally.add(cursor)
      if (isFirst) this.#checkBegin(block)
      isFirst = false
      extra?.entry(cursor)
    }
    if (index.compareSeparator(block, tally.largest) < 0) this.#add(block, 'its last key is after its separator')
    if (compareKeys(tally.largest, this.#meta.largest) > 0)
      this.#add(block, 'its last key is after the largest key of the table')
  }

  #checkBegin(block: number): void {
    const { index } = this.table
    const key = this.tally.largest
    if (block > 0 && index.compareSeparator(block - 1, key) > 0) {
      this.#add(block, 'its first key is before the previous separator')
    }
    if (compareKeys(key, this.#meta.smallest) < 0)
      this.#add(block, 'its first key is before the smallest key of the table')
  }

  #add(block: number, what: string): void {
    this.#problems.add('block', this.table.path, `block ${block}: ${what}`, this.table.index.offset(block))
  }

  #finish(): void {
    const { path } = this.table
    if (this.#denied > 0) {
      this.#problems.add('key-filter', path, `the key filter does not contain ${this.#denied} keys of the table`)
    }
    if (!this.#isReadable || this.tally.entries === 0) return
    const found = this.tally.meta(this.#meta.number, this.#meta.bytes)
    for (const difference of differences(found, this.#meta)) {
      this.#problems.add('table', path, `differs from the manifest: ${difference}`)
    }
    if (this.#properties === undefined) return
    for (const difference of differences(found, this.#properties)) {
      this.#problems.add('table', path, `differs from its properties: ${difference}`)
    }
  }
}
