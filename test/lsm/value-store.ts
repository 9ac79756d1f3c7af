/**
 * A store of memtables and tables without an engine, and a model of it: every lookup is compared with a full scan.
 *
 * Any tables may be merged, which no policy would do: shadowing has to be right wherever a newer version is.
 */

import * as assert from 'uvu/assert'
import { BlockCache } from '../../src/lsm/cache/block-cache.ts'
import { compareKeys, EntryKind } from '../../src/lsm/format/entry.ts'
import { Found } from '../../src/lsm/format/found.ts'
import { keyHash } from '../../src/lsm/format/key-filter.ts'
import { TableBuilder } from '../../src/lsm/format/table-builder.ts'
import { tableName } from '../../src/lsm/fs/file-names.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import type { ValueOptions } from '../../src/lsm/options.ts'
import { type JsonPair, jsonExtractor } from '../../src/lsm/value/json-extractor.ts'
import { type LookupOptions, lookup, rangeLookup } from '../../src/lsm/value/lookup.ts'
import { createSectionCollector } from '../../src/lsm/value/section-collector.ts'
import { writeSideFile } from '../../src/lsm/value/side-file.ts'
import type { ValueView } from '../../src/lsm/value/value-view.ts'
import { Values } from '../../src/lsm/value/values.ts'
import { TableCache } from '../../src/lsm/version/table-cache.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import type { Filled } from '../../src/model/filled.ts'
import { FilledMemtable } from './memtable-filling.ts'
import { wholeEntry } from './whole-entry.ts'

export interface TestVersion {
  readonly key: string
  readonly sequence: number
  /** Undefined for a tombstone. */
  readonly value: string | undefined
}

export const testValueOptions: Filled<ValueOptions> = {
  extractor: jsonExtractor({ fields: ['color', 'tags', 'n'], zones: ['n', 'color'] }),
  filterBits: 1 << 12,
  filterHashes: 4,
  blockFilterBits: 0,
  levels: 'all',
  placement: 'table',
  loading: 'lazy',
  index: 'sliced',
  treeOrder: 2,
  filterMemory: 1 << 20
}

export const directory = '/store'

export class ValueStore {
  readonly fileSystem = new MemoryFileSystem()
  readonly tables: TableCache
  readonly history: TestVersion[] = []
  options: Filled<ValueOptions>
  values!: Values
  sequence = 0
  #memtables: FilledMemtable[] = [new FilledMemtable()]
  #version: { levels: TableMeta[][] } = { levels: [[], []] }
  #nextNumber = 1

  private constructor(options: Filled<ValueOptions>, maxOpenFiles: number) {
    this.options = options
    this.fileSystem.makeDirectory(directory)
    this.tables = new TableCache(this.fileSystem, directory, new BlockCache(1 << 16), maxOpenFiles)
  }

  static async create(options: Partial<Filled<ValueOptions>> = {}, maxOpenFiles = 100): Promise<ValueStore> {
    const store = new ValueStore({ ...testValueOptions, ...options }, maxOpenFiles)
    await store.reopen()
    return store
  }

  get metas(): readonly TableMeta[] {
    return this.#version.levels.flat()
  }

  /** Starts with value filters that are not loaded, with other options if given. */
  async reopen(options: Partial<Filled<ValueOptions>> = {}): Promise<void> {
    this.options = { ...this.options, ...options }
    this.values = await Values.open(this.options, this.fileSystem, directory)
  }

  put(key: string, value: unknown): void {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    this.history.push({ key, sequence: ++this.sequence, value: text })
    const entry = { key: Buffer.from(key), value: Buffer.from(text), kind: EntryKind.put }
    this.#memtables[0]?.add(entry, this.sequence)
  }

  delete(key: string): void {
    this.history.push({ key, sequence: ++this.sequence, value: undefined })
    const entry = { key: Buffer.from(key), value: Buffer.alloc(0), kind: EntryKind.tombstone }
    this.#memtables[0]?.add(entry, this.sequence)
  }

  /** Starts a new memtable, unless the current one is empty. */
  freeze(): void {
    if (this.#memtables[0]?.memtable.isEmpty === false) this.#memtables.unshift(new FilledMemtable())
  }

  /** Flushes the oldest memtable. */
  async flush(): Promise<void> {
    if (this.#memtables.length === 1) this.freeze()
    if (this.#memtables.length === 1) return
    const oldest = this.#memtables.pop() as FilledMemtable
    const entries = oldest.sorted.map(({ key, sequence, kind, value }) => ({
      key: key.toString(),
      sequence,
      value: kind === EntryKind.put ? value.toString() : undefined
    }))
    const table = await this.writeTable(entries)
    this.#version = { levels: [[table, ...(this.#version.levels[0] ?? [])], this.#version.levels[1] ?? []] }
  }

  /**
   * Merges tables into one, keeping what snapshot `oldest` and newer ones see.
   * @param keepsFiles keeps the files of the inputs, as a view of them does
   */
  async merge(numbers: readonly number[], oldest: number, keepsFiles = false): Promise<void> {
    const inputs = this.metas.filter((meta) => numbers.includes(meta.number))
    const entries = inputs.flatMap((meta) => this.entriesOf(meta))
    entries.sort((a, b) => compareKeys(Buffer.from(a.key), Buffer.from(b.key)) || b.sequence - a.sequence)
    const kept = entries.filter((entry, i) => {
      const newer = entries[i - 1]
      return newer?.key !== entry.key || newer.sequence > oldest
    })
    if (kept.length === 0) return
    const table = await this.writeTable(kept)
    const [top = [], bottom = []] = this.#version.levels
    const stays = (meta: TableMeta) => !inputs.includes(meta)
    this.#version = { levels: [top.filter(stays), [...bottom.filter(stays), table]] }
    for (const { number } of keepsFiles ? [] : inputs) {
      this.tables.drop(number)
      this.fileSystem.remove(`${directory}/${tableName(number)}`)
    }
  }

  async writeTable(entries: readonly TestVersion[]): Promise<TableMeta> {
    const number = this.#nextNumber++
    const file = this.fileSystem.open(`${directory}/${tableName(number)}`, 'create')
    const collector = await createSectionCollector(this.options)
    const options = {
      blockBytes: 200,
      restartInterval: 4,
      codec: 'none',
      keyFilterBits: 10,
      values: this.options
    } as const
    const builder = new TableBuilder(file, number, options, collector)
    for (const { key, sequence, value } of entries) {
      const keyBytes = Buffer.from(key)
      const valueBytes = Buffer.from(value ?? '')
      const kind = value === undefined ? EntryKind.tombstone : EntryKind.put
      builder.add(wholeEntry(keyBytes, sequence, kind, valueBytes))
    }
    const meta = builder.finish()
    file.close()
    if (collector.sideSections.length > 0) await writeSideFile(this.fileSystem, directory, meta, collector.sideSections)
    return meta
  }

  view(sequence = this.sequence): ValueView {
    const buffers = this.#memtables.map(({ memtable }) => ({ memtable }))
    const version = this.#version
    const { tables } = this
    return {
      sequence,
      buffers,
      version,
      tables,
      // The newest version wins wherever it is: tables are in no order here.
      find: (key, into) => {
        const one = new Found()
        let newest = -1
        const consider = (isFound: boolean): void => {
          if (!isFound || one.sequence <= newest) return
          newest = one.sequence
          Object.assign(into, one)
        }
        for (const { memtable } of buffers) consider(memtable.get(key, sequence, one))
        const hash = keyHash(key, 0, key.length)
        for (const meta of version.levels.flat()) consider(tables.table(meta).get(key, hash, sequence, one))
        return newest >= 0
      }
    }
  }

  /** @param onBlock called for every block that is read, with the number of its table */
  watchedView(onBlock: (table: number) => void): ValueView {
    const table = (meta: TableMeta) => {
      const whole = this.tables.table(meta)
      return {
        blockCount: whole.blockCount,
        section: (name: string) => whole.section(name),
        blockCursor: (block: number) => {
          onBlock(meta.number)
          return whole.blockCursor(block)
        }
      }
    }
    return { ...this.view(), tables: { table } }
  }

  lookup(pair: JsonPair, options: LookupOptions = {}, view = this.view()): Promise<[string, string][]> {
    return collect(lookup(this.values, view, pair, options))
  }

  rangeLookup(
    field: string,
    low: string | number | undefined,
    high: string | number | undefined,
    options: LookupOptions = {},
    view = this.view()
  ): Promise<[string, string][]> {
    return collect(rangeLookup(this.values, view, field, low, high, options))
  }

  /** The result of a full scan. */
  scan(
    matches: (value: string) => boolean,
    { limit = Number.POSITIVE_INFINITY, reverse = false, prefix }: LookupOptions = {},
    sequence = this.sequence
  ): [string, string][] {
    const newest = new Map<string, TestVersion>()
    for (const version of this.history) if (version.sequence <= sequence) newest.set(version.key, version)
    const found = [...newest.values()].filter(
      ({ key, value }) => value !== undefined && matches(value) && key.startsWith(prefix?.toString() ?? '')
    )
    found.sort((a, b) => (reverse ? a.sequence - b.sequence : b.sequence - a.sequence))
    return found.slice(0, limit).map(({ key, value }) => [key, value as string])
  }

  entriesOf(meta: TableMeta): TestVersion[] {
    const entries: TestVersion[] = []
    const cursor = this.tables.table(meta).cursor({ fillCache: 'none', readahead: false })
    for (cursor.seekToFirst(); cursor.isValid; cursor.next()) {
      const value = Buffer.from(cursor.valueBytes.subarray(cursor.valueStart, cursor.valueEnd)).toString()
      entries.push({
        key: Buffer.from(cursor.keyBytes.subarray(cursor.keyStart, cursor.keyEnd)).toString(),
        sequence: cursor.sequence,
        value: cursor.kind === EntryKind.put ? value : undefined
      })
    }
    cursor.close()
    return entries
  }
}

async function collect(entries: AsyncIterable<[Buffer, Buffer]>): Promise<[string, string][]> {
  const found: [string, string][] = []
  for await (const [key, value] of entries) found.push([key.toString(), value.toString()])
  return found
}

/** Whether a JSON value has the pair, found by parsing it. */
export function hasPair(value: string, [field, wanted]: JsonPair): boolean {
  return valuesAt(value, field).includes(wanted)
}

export function valuesAt(value: string, field: string): unknown[] {
  let document: unknown
  try {
    document = JSON.parse(value)
  } catch {
    return []
  }
  if (typeof document !== 'object' || document === null) return []
  const found = (document as Record<string, unknown>)[field]
  return Array.isArray(found) ? found.flat(Number.POSITIVE_INFINITY) : [found]
}

export function assertSame(actual: unknown, expected: unknown, what: string): void {
  assert.equal(actual, expected, what)
}
