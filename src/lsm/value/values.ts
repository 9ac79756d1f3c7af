/**
 * The value filters of an open store: finds the tables that may hold a pair, or a value in a range.
 *
 * Follows the versions by itself: every query brings a view, and changes since the previous one are applied first.
 * load() loads filters in slices, so that the caller can yield to the event loop.
 *
 * Invariants:
 * 1. A table is ruled out only by what is known about that very table. If it is not loaded yet, has no filter, is
 *    damaged, has another extractor's filter, or is of a version other than the index's, the answer is "maybe".
 * 2. Filters in memory stay within filterMemory, not counting the tree's inner nodes; filters beyond it are read from
 *    disk when needed.
 */

import { BitSet } from '../../bloom/bit-set.ts'
import { createFilterIndex, type FilterIndex } from '../../bloom/filter-index/filter-index.ts'
import { hasAll } from '../../bloom/filter-index/slotted-index.ts'
import { rowNumbers } from '../../bloom/hash.ts'
import type { Filled } from '../../model/filled.ts'
import type { ValueWriteOptions } from '../format/table-options.ts'
import type { FileSystem } from '../fs/file-system.ts'
import type { Memtable } from '../memtable/memtable.ts'
import type { ValueOptions } from '../options.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Extractor } from './extractor.ts'
import { sectionNames } from './header.ts'
import { identityOf, loadExtractor } from './load-extractor.ts'
import { MemtableIndex } from './memtable-index.ts'
import { SectionCache } from './section-cache.ts'
import { hundredthsOf } from './section-collector.ts'
import { TableSlots, type ValueSlot } from './table-slots.ts'
import { TableValues, type ValueExpectation } from './table-values.ts'
import { summarize, type ValueStats } from './value-stats.ts'
import type { TableSet, ValueView } from './value-view.ts'

/** The share of filterMemory reserved for block filters and block zones, however much the index could use. */
const sectionShare = 1 / 4

/** A table that may match a query. */
export interface CandidateTable {
  readonly meta: TableMeta
  /** Undefined while nothing is known about it. */
  readonly values: TableValues | undefined
  /** Its filter is on disk and has not been checked: see mayHold(). */
  readonly isUnverified: boolean
}

export class Values {
  readonly extractor: Extractor
  readonly options: Filled<ValueOptions>
  /** Block filters and block zones. */
  readonly sections: SectionCache
  readonly expected: ValueExpectation
  readonly #index: FilterIndex
  /** Memory budget of the index, in bytes. */
  readonly #indexMemory: number
  readonly #slots = new TableSlots()
  /** The version that the index covers. */
  #version: TableSet | undefined
  readonly #followed = new WeakSet<TableSet>()
  #toLoad: ValueSlot[] = []
  readonly #memtables = new WeakMap<Memtable, MemtableIndex>()
  /** The view whose tables the tree may read leaves from, during a call. */
  #view: ValueView | undefined

  private constructor(extractor: Extractor, options: Filled<ValueOptions>, fileSystem: FileSystem, directory: string) {
    this.extractor = extractor
    this.options = options
    const { filterBits, filterHashes, filterMemory, blockFilterBits } = options
    const hasSections = blockFilterBits > 0 || extractor.zoneFields.length > 0
    const leastSections = hasSections ? filterMemory * sectionShare : 0
    this.#indexMemory = filterMemory - leastSections
    this.expected = { extractor: identityOf(options.extractor), filterBits, filterHashes, fileSystem, directory }
    // All memory that the index leaves: a quarter alone is just too little for a million entries.
    this.sections = new SectionCache(() =>
      hasSections ? Math.max(leastSections, filterMemory - this.#index.memoryBytes) : 0
    )
    this.#index = createFilterIndex({
      kind: options.index,
      bits: filterBits,
      order: options.treeOrder,
      leafMemory: this.#indexMemory,
      loadLeaf: (slot) => this.#leaf(slot)
    })
  }

  /** @throws LEVEL_NOT_SUPPORTED if there is no such extractor */
  static async open(options: Filled<ValueOptions>, fileSystem: FileSystem, directory: string): Promise<Values> {
    return new Values(await loadExtractor(options.extractor), options, fileSystem, directory)
  }

  /** The lower and upper halves of the pairs' hashes, alternating. */
  hashesOf(pairs: readonly unknown[]): Int32Array {
    const hashes = new Int32Array(2 * pairs.length)
    pairs.forEach((pair, i) => {
      this.extractor.hash(pair, hashes.subarray(2 * i, 2 * i + 2))
    })
    return hashes
  }

  /** Bit positions of the pairs in a table's filter. */
  positionsOf(hashes: Int32Array): Int32Array {
    const { filterBits, filterHashes } = this.options
    const positions = new Int32Array((hashes.length / 2) * filterHashes)
    for (let pair = 0; pair < hashes.length / 2; pair++) {
      const one = positions.subarray(pair * filterHashes, (pair + 1) * filterHashes)
      rowNumbers(hashes[2 * pair]!, hashes[2 * pair + 1]!, filterBits, filterHashes, one)
    }
    return positions
  }

  /**
   * Updates the index to the tables of a view.
   * REQUIRES: called when the view is captured; later calls with the same view change nothing.
   */
  follow(view: ValueView): void {
    // A version that was followed before is either the current one or outdated.
    if (this.#followed.has(view.version)) return
    this.#followed.add(view.version)
    this.#view = view
    for (const slot of this.#slots.release(view.version)) this.#index.remove(slot.number)
    const added = this.#slots.assign(view.version)
    for (const slot of added) this.#index.insert(slot.number, undefined)
    this.#toLoad = this.#toLoad.filter((slot) => this.#slots.isCurrent(slot)).concat(added)
    this.#version = view.version
    this.#view = undefined
  }

  /** Whether load() has nothing to do for this view. */
  isLoaded(view: ValueView): boolean {
    return this.#toLoad.length === 0 || this.#version !== view.version
  }

  /**
   * Loads filters until all are loaded or `shouldPause` returns true; returns whether all are loaded. Loads nothing
   * for an outdated view.
   */
  load(view: ValueView, shouldPause: () => boolean): boolean {
    while (!this.isLoaded(view)) {
      const slot = this.#toLoad.pop()
      if (slot !== undefined) this.#load(slot, view)
      if (shouldPause()) return this.isLoaded(view)
    }
    return true
  }

  /** Tables of the view that may hold all of the pairs, in no particular order. */
  candidates(view: ValueView, positions: Int32Array): CandidateTable[] {
    const into = new BitSet(this.#index.capacity)
    this.#view = view
    this.#index.candidates(positions, into)
    this.#view = undefined
    const found: CandidateTable[] = []
    if (this.#version !== view.version) {
      for (const meta of tablesOf(view.version)) {
        const slot = this.#slots.of(meta)
        if (slot === undefined || into.get(slot.number)) found.push(candidateOf(meta, slot))
      }
      return found
    }
    into.forEach((number) => {
      const slot = this.#slots.at(number)
      if (slot !== undefined) found.push(candidateOf(slot.meta, slot))
    })
    return found
  }

  /** All tables of the view: for queries that filters cannot answer. */
  allTables(view: ValueView): CandidateTable[] {
    return [...tablesOf(view.version)].map((meta) => candidateOf(meta, this.#slots.of(meta)))
  }

  /** Checks the filter, on disk, of an unverified candidate. */
  mayHold({ meta, values, isUnverified }: CandidateTable, view: ValueView, positions: Int32Array): boolean {
    if (!isUnverified || values === undefined) return true
    const filter = values.filter(view.tables.table(meta))
    return filter === undefined || hasAll(filter, positions)
  }

  memtableIndex(memtable: Memtable): MemtableIndex {
    const known = this.#memtables.get(memtable)
    if (known !== undefined) return known
    const index = new MemtableIndex(memtable, this.extractor)
    this.#memtables.set(memtable, index)
    return index
  }

  /** Options for writing a table of this level; the last level may have no table filters. */
  writeOptions(view: ValueView, level: number): ValueWriteOptions {
    const { levels } = this.options
    const isExempt = levels === 'not-last' && level === view.version.levels.length - 1
    return isExempt ? { ...this.options, filterBits: 0 } : this.options
  }

  /** Whether a table has every section that it would be written with now. */
  isComplete(meta: TableMeta, view: ValueView, { filterBits, blockFilterBits }: ValueWriteOptions): boolean {
    const table = view.tables.table(meta)
    const values = new TableValues(meta, table, this.expected)
    if (values.header === undefined || values.damage !== undefined) return false
    if (values.header.blockFilterHundredths !== hundredthsOf(blockFilterBits)) return false
    return (
      (filterBits === 0 || values.filter(table) !== undefined) &&
      (values.header.blockFilterHundredths === 0 || values.section(sectionNames.blockFilters, table) !== undefined) &&
      (this.extractor.zoneFields.length === 0 || values.section(sectionNames.blockZones, table) !== undefined)
    )
  }

  /** Reloads the table's value sections, which have changed. */
  forget(meta: TableMeta): void {
    this.sections.forget(meta.number)
    const slot = this.#slots.of(meta)
    if (slot === undefined) return
    slot.values = undefined
    slot.isOnDisk = false
    slot.isDamaged = false
    if (!this.#toLoad.includes(slot)) this.#toLoad.push(slot)
  }

  /** Share of set bits in a table's filter; undefined while it is not loaded, and if it has none. */
  fillOf(meta: TableMeta): number | undefined {
    const header = this.#slots.of(meta)?.values?.header
    return header === undefined || header.filterBits === 0 ? undefined : header.bitsSet / header.filterBits
  }

  stats(): ValueStats {
    return summarize(this.options, this.#index, this.sections, this.#slots, this.#toLoad.length)
  }

  #load(slot: ValueSlot, view: ValueView): void {
    const table = view.tables.table(slot.meta)
    const values = new TableValues(slot.meta, table, this.expected)
    slot.values = values
    if (!values.hasFilter) return
    const grown = this.#index.memoryBytes + this.#index.growthOf(slot.number)
    // The tree keeps leaves on disk by itself, and can rule them out by their parents.
    if (grown > this.#indexMemory && this.options.index !== 'tree') {
      slot.isOnDisk = true
      return
    }
    const filter = values.filter(table)
    if (filter === undefined) {
      slot.isDamaged = true
      return
    }
    this.#view = view
    this.#index.remove(slot.number)
    this.#index.insert(slot.number, filter)
    this.sections.trim()
    this.#view = undefined
  }

  /** Reads a leaf of the tree from disk. */
  #leaf(number: number): Uint8Array | undefined {
    const slot = this.#slots.at(number)
    // A table about to be removed from the tree as well: its bits would only keep its parents full.
    if (slot === undefined) return new Uint8Array(Math.ceil(this.options.filterBits / 8))
    if (this.#view === undefined) return undefined
    return slot.values?.filter(this.#view.tables.table(slot.meta))
  }
}

function candidateOf(meta: TableMeta, slot: ValueSlot | undefined): CandidateTable {
  return { meta, values: slot?.values, isUnverified: slot?.isOnDisk ?? false }
}

function* tablesOf(version: TableSet): Generator<TableMeta, void> {
  for (const tables of version.levels) yield* tables
}
