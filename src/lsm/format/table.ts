/**
 * A table opened for reading. Everything is synchronous: a cached block takes no system call, any other one pread.
 *
 * Invariants:
 * 1. Index and key filter are in memory as long as the table is open; blocks belong to the cache.
 * 2. A damaged byte either causes LEVEL_CORRUPTION with path and offset, or is in a part that was not read.
 */
import type { BlockCache, CachedBlocks } from '../cache/block-cache.ts'
import { corruption } from '../errors.ts'
import { closeQuietly } from '../fs/close-quietly.ts'
import type { OpenFile } from '../fs/file-system.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Block } from './block.ts'
import { BlockCursor } from './block-cursor.ts'
import { BlockSource, type ReadOptions } from './block-source.ts'
import type { Cursor } from './cursor.ts'
import { EntryKind } from './entry.ts'
import type { Found } from './found.ts'
import { KeyFilter } from './key-filter.ts'
import { largeBlockBytes, readLargeValue } from './large-value.ts'
import { keyFilterName, propertiesName } from './metaindex.ts'
import { readProperties, type TableProperties } from './properties.ts'
import { TableCursor } from './table-cursor.ts'
import { TableFile } from './table-file.ts'

/** For lookups, which finish without yielding. */
const probe = new BlockCursor()

export class Table {
  readonly properties: TableProperties
  readonly #file: TableFile
  readonly #filter: KeyFilter | undefined
  readonly #cached: CachedBlocks

  private constructor(
    file: TableFile,
    filter: KeyFilter | undefined,
    properties: TableProperties,
    cached: CachedBlocks
  ) {
    this.#file = file
    this.#filter = filter
    this.properties = properties
    this.#cached = cached
  }

  /**
   * Reads footer, index, key filter and properties. The table closes the file, even if opening fails.
   * @throws LEVEL_CORRUPTION if it is damaged or a different table; LEVEL_IO_ERROR; LEVEL_NOT_SUPPORTED
   */
  static open(file: OpenFile, meta: Pick<TableMeta, 'number' | 'bytes' | 'entries'>, cache: BlockCache): Table {
    try {
      const opened = TableFile.open(file, meta)
      const filter = opened.section(keyFilterName)
      const properties = readProperties(opened.section(propertiesName) ?? Buffer.alloc(0), file.path)
      if (properties.entries !== meta.entries) {
        throw corruption(`the table has ${properties.entries} entries, expected ${meta.entries}`, { path: file.path })
      }
      const cached = cache.forTable(opened.file.index.count)
      return new Table(opened.file, filter && KeyFilter.read(filter), properties, cached)
    } catch (error) {
      closeQuietly(file)
      throw error
    }
  }

  /** Number of data blocks. */
  get blockCount(): number {
    return this.#file.index.count
  }

  /** Bytes of index and key filter; blocks count towards the cache. */
  get memoryBytes(): number {
    return this.#file.index.memoryBytes + (this.#filter?.memoryBytes ?? 0)
  }

  /** Whether the key may be here, according to the key filter. False: no version of the key is here. */
  mayContain(keyHash: number): boolean {
    return this.#filter === undefined || this.#filter.mayContain(keyHash)
  }

  /**
   * Finds the newest version of a key at or before `maxSequence`.
   * @param keyHash of the whole key, see key-filter.ts
   * @param into set if a version is found; its value is in a shared buffer: valid until the next call of anything that
   * reads blocks, of any table
   * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  get(key: Uint8Array, keyHash: number, maxSequence: number, into: Found, fillCache = true): boolean {
    if (!this.mayContain(keyHash)) return false
    const { index } = this.#file
    for (let block = index.find(key); block < index.count; block++) {
      probe.load(this.#block(block, fillCache))
      const outcome = probe.locate(key, maxSequence)
      if (outcome === 'exact') {
        into.kind = probe.kind
        into.sequence = probe.sequence
        into.valueBytes = probe.valueBytes
        into.valueStart = probe.valueStart
        into.valueEnd = probe.valueEnd
        return true
      }
      // Only if the separator is the key itself can the next block hold further versions.
      if (outcome === 'greater' || index.compareSeparator(block, key) !== 0) return false
    }
    return false
  }

  /**
   * Prefetches the block that get() would read into the system's page cache.
   * @returns undefined if there is none: the table does not have the key, or the block is cached
   */
  prepare(key: Uint8Array, keyHash: number): Promise<void> | undefined {
    if (!this.mayContain(keyHash)) return undefined
    const { index } = this.#file
    const block = index.find(key)
    return block === index.count || this.#cached.has(block) ? undefined : this.#file.prepareBlock(block)
  }

  /**
   * Reads the value of a key into the caller's buffer, bypassing the block cache: a large uncompressed value is read
   * directly into `target`.
   * @param target written from `offset` on, if the value fits; also when LEVEL_CORRUPTION is thrown
   * @returns the length of the value; −1 for a tombstone; undefined if no version at or before `maxSequence` is here
   * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  valueInto(
    key: Uint8Array,
    keyHash: number,
    maxSequence: number,
    target: Uint8Array,
    offset: number
  ): number | undefined {
    if (!this.mayContain(keyHash)) return undefined
    const { index } = this.#file
    for (let block = index.find(key); block < index.count; block++) {
      const cached = this.#cached.get(block)
      if (cached === undefined && index.payloadBytes(block) >= largeBlockBytes) {
        const bytes = readLargeValue(this.#file, block, key, maxSequence, target, offset)
        if (bytes !== undefined) return bytes
      }
      probe.load(cached ?? this.#file.readSharedBlock(block))
      const outcome = probe.locate(key, maxSequence)
      if (outcome === 'exact') return probe.kind === EntryKind.tombstone ? -1 : copyValue(probe, target, offset)
      if (outcome === 'greater' || index.compareSeparator(block, key) !== 0) return undefined
    }
    return undefined
  }

  /**
   * The bytes it exposes may be handed out: see block-source.ts.
   * @param end keys from here on are not needed: moving forwards, the cursor may end before them
   */
  cursor(options: ReadOptions, end?: Uint8Array): Cursor {
    return new TableCursor(this.#file.index, new BlockSource(this.#file, this.#cached, options, end), end)
  }

  /**
   * A cursor over one data block, through the cache.
   * @param block in 0…blockCount − 1
   */
  blockCursor(block: number): Cursor {
    const cursor = new BlockCursor()
    // A copy: the caller reads other blocks in the meantime.
    cursor.load(this.#block(block, true).copy())
    return cursor
  }

  /** File offset of the block with the first entry at or after `key`. */
  approximateOffset(key: Uint8Array): number {
    const { index } = this.#file
    return index.offset(index.find(key))
  }

  /** Names of all sections, including the format's own. */
  get sectionNames(): string[] {
    return this.#file.sectionNames
  }

  /**
   * Reads a section into bytes that belong to the caller; undefined if there is none with this name.
   * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  section(name: string): Uint8Array | undefined {
    return this.#file.section(name)
  }

  /** Closes the file and drops its cached blocks. May be called twice. */
  close(): void {
    this.#cached.clear()
    this.#file.close()
  }

  /** Valid until the next call of anything that reads blocks. */
  #block(index: number, fillCache: boolean): Block {
    const cached = this.#cached.get(index)
    if (cached !== undefined) return cached
    const block = this.#file.readSharedBlock(index)
    if (fillCache) this.#cached.add(index, block)
    return block
  }
}

/** Copies the value to target[offset, …) if it fits; returns its length. */
function copyValue(cursor: Cursor, target: Uint8Array, offset: number): number {
  const { valueBytes, valueStart, valueEnd } = cursor
  const bytes = valueEnd - valueStart
  if (bytes <= target.length - offset) target.set(valueBytes.subarray(valueStart, valueEnd), offset)
  return bytes
}
