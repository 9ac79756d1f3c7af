/**
 * Checks that the value sections of one table cover every value in it: filter, block filters, zone maps, and the
 * filter index in memory. Each may answer "maybe" for a missing value, but never "no" for a present one.
 */
import { countBits, hasAll } from '../../bloom/filter-index/slotted-index.ts'
import { rowNumbers } from '../../bloom/hash.ts'
import type { Cursor } from '../format/cursor.ts'
import { EntryKind } from '../format/entry.ts'
import { matchingBlocks } from '../value/block-filters.ts'
import { Decoder } from '../value/decoder.ts'
import type { PairSink, ZoneValue } from '../value/extractor.ts'
import { sectionNames, type ValueHeader } from '../value/header.ts'
import { SideFile } from '../value/side-file.ts'
import { TableValues } from '../value/table-values.ts'
import type { ValueTable, ValueView } from '../value/value-view.ts'
import type { Values } from '../value/values.ts'
import { decodeZone, mayOverlap, type Zone } from '../value/zone-maps.ts'
import { encodeZoneValue, isZoneValue } from '../value/zone-value.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { EntryCheck } from './check-table.ts'
import type { ProblemList } from './problems.ts'

/** The filter index is queried for this many pairs of a table at once, from as many of its blocks as possible. */
const maxIndexPairs = 1024

export class ValuesCheck implements EntryCheck, PairSink {
  readonly #values: Values
  readonly #view: ValueView
  readonly #meta: TableMeta
  readonly #blockCount: number
  readonly #problems: ProblemList
  readonly #path: string
  readonly #header: ValueHeader
  readonly #filter: Uint8Array | undefined
  readonly #blockFilters: Uint8Array | undefined
  readonly #blockZones: readonly (readonly (Zone | undefined)[])[] | undefined
  readonly #positions: Int32Array
  /** Lower and upper hash halves of the current block's pairs, alternating. */
  #hashes: number[] = []
  readonly #indexHashes: number[] = []
  /** Encoded zone values of the current block, by field. */
  #zones: { readonly field: number; readonly value: Uint8Array }[] = []
  #deniedPairs = 0
  #deniedZones = 0
  #failures = 0

  private constructor(
    values: Values,
    view: ValueView,
    meta: TableMeta,
    table: ValueTable,
    known: TableValues,
    header: ValueHeader,
    problems: ProblemList
  ) {
    this.#values = values
    this.#view = view
    this.#meta = meta
    this.#blockCount = table.blockCount
    this.#problems = problems
    this.#path = known.path
    this.#header = header
    this.#positions = new Int32Array(header.filterHashes)
    this.#filter = this.#readFilter(known, table)
    this.#blockFilters = known.section(sectionNames.blockFilters, table)
    this.#blockZones = this.#readZones(known, table)
  }

  /** Undefined if there is nothing to check: a table without value sections, or with another extractor's. */
  static open(
    values: Values,
    view: ValueView,
    meta: TableMeta,
    table: ValueTable,
    problems: ProblemList
  ): ValuesCheck | undefined {
    const known = new TableValues(meta, table, values.expected)
    checkSideFile(values, meta, known, problems)
    if (known.header === undefined) return undefined
    return new ValuesCheck(values, view, meta, table, known, known.header, problems)
  }

  entry({ keyBytes, keyStart, keyEnd, kind, valueBytes, valueStart, valueEnd }: Cursor): void {
    if (kind === EntryKind.tombstone) return
    try {
      this.#values.extractor.extract(keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd, this)
    } catch {
      // An extractor that fails now would have failed when the table was written: it would have no value sections.
      this.#failures++
    }
  }

  pair(lo: number, hi: number): void {
    this.#hashes.push(lo, hi)
    if (this.#filter === undefined) return
    rowNumbers(lo, hi, this.#header.filterBits, this.#positions.length, this.#positions)
    if (!hasAll(this.#filter, this.#positions)) this.#deniedPairs++
  }

  zone(field: number, value: ZoneValue): void {
    if (!isZoneValue(value)) return
    const encoded = encodeZoneValue(value)
    this.#zones.push({ field, value: encoded })
    const zone = this.#header.zones?.[field]
    if (zone !== undefined && !mayOverlap(zone.zone, { low: encoded, high: encoded })) this.#deniedZones++
  }

  endBlock(block: number): void {
    const hashes = Int32Array.from(this.#hashes)
    if (this.#indexHashes.length < 2 * maxIndexPairs) this.#indexHashes.push(...hashes.subarray(0, 2))
    if (this.#blockFilters !== undefined && !this.#isAmongBlocks(this.#blockFilters, hashes, block)) {
      this.#add(`the filter of block ${block} does not contain all its pairs`)
    }
    const zones = this.#blockZones?.[block]
    if (zones !== undefined) {
      const denied = this.#zones.filter(({ field, value }) => !mayOverlap(zones[field], { low: value, high: value }))
      if (denied.length > 0) this.#add(`the zones of block ${block} do not cover ${denied.length} of its values`)
    }
    this.#hashes = []
    this.#zones = []
  }

  finish(): void {
    if (this.#deniedPairs > 0) this.#add(`the value filter does not contain ${this.#deniedPairs} pairs of the table`)
    if (this.#deniedZones > 0) this.#add(`the zones do not cover ${this.#deniedZones} values of the table`)
    if (this.#failures > 0)
      this.#add(`the extractor fails on ${this.#failures} entries of a table that has value filters from it`)
    const positions = this.#values.positionsOf(Int32Array.from(this.#indexHashes))
    const isCandidate = this.#values
      .candidates(this.#view, positions)
      .some(({ meta }) => meta.number === this.#meta.number)
    if (!isCandidate) {
      this.#problems.add('filter-index', this.#path, 'the filter index excludes the table for pairs that it contains')
    }
  }

  #isAmongBlocks(filters: Uint8Array, hashes: Int32Array, block: number): boolean {
    try {
      return matchingBlocks(new Decoder(filters, this.#path), this.#blockCount, hashes).includes(block)
    } catch (error) {
      this.#problems.addError('values', this.#path, error)
      return true
    }
  }

  #readFilter(known: TableValues, table: ValueTable): Uint8Array | undefined {
    const { filterBits, bitsSet } = this.#header
    if (filterBits === 0) return undefined
    const filter = bitsSet === 0 ? new Uint8Array(Math.ceil(filterBits / 8)) : known.section(sectionNames.filter, table)
    if (filter === undefined) {
      this.#add('the value filter is missing or damaged')
    } else if (filter.length !== Math.ceil(filterBits / 8)) {
      this.#add(`the value filter has ${filter.length} bytes for ${filterBits} bits`)
      return undefined
    } else if (countBits(filter) !== bitsSet) {
      this.#add(`the value filter has ${countBits(filter)} set bits, expected ${bitsSet}`)
    }
    return filter
  }

  /** Zones by block and field. */
  #readZones(known: TableValues, table: ValueTable): (Zone | undefined)[][] | undefined {
    const bytes = known.section(sectionNames.blockZones, table)
    if (bytes === undefined) return undefined
    try {
      const decoder = new Decoder(bytes, this.#path)
      const blocks = decoder.u32('number of blocks')
      const fields = decoder.byte('number of fields')
      if (blocks !== table.blockCount) throw decoder.damaged(`zones of ${blocks} blocks, expected ${table.blockCount}`)
      const zones: (Zone | undefined)[][] = []
      for (let block = 0; block < blocks; block++) {
        const row: (Zone | undefined)[] = []
        for (let field = 0; field < fields; field++) row.push(decodeZone(decoder))
        zones.push(row)
      }
      decoder.end()
      return zones
    } catch (error) {
      this.#problems.addError('values', this.#path, error)
      return undefined
    }
  }

  #add(what: string): void {
    this.#problems.add('values', this.#path, what)
  }
}

/** Damage in the table's own sections was found when they were read. */
function checkSideFile(values: Values, meta: TableMeta, known: TableValues, problems: ProblemList): void {
  const { fileSystem, directory } = values.expected
  try {
    const side = SideFile.open(fileSystem, directory, meta)
    for (const name of Object.values(sectionNames)) side?.section(name)
  } catch (error) {
    problems.addError('values', known.path, error)
  }
}
