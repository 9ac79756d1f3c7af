/**
 * Builds the value sections of a table while the table is written: filter, block filters, zone maps.
 *
 * Invariants:
 * 1. Every section covers every put of the table, including older versions; tombstones add nothing.
 * 2. If the extractor fails on an entry, the table gets none of them, and answers "maybe".
 */

import { countBits } from '../../bloom/filter-index/slotted-index.ts'
import { rowNumbers } from '../../bloom/hash.ts'
import { EntryKind, type EntryRanges } from '../format/entry.ts'
import type { Section, SectionCollector } from '../format/section-collector.ts'
import type { ValueWriteOptions } from '../format/table-options.ts'
import type { SuppliedPairs } from '../memtable/supplied-pairs.ts'
import { BlockFilterCollector } from './block-filters.ts'
import type { Extractor, PairSink, ZoneValue } from './extractor.ts'
import { encodeHeader, sectionNames } from './header.ts'
import { type ExtractorIdentity, identityOf, loadExtractor } from './load-extractor.ts'
import { encodeBlockZones, type Zone, ZoneCollector } from './zone-maps.ts'

/**
 * Creates a collector for one table. The extractor's module is loaded at the first call in a thread.
 * @throws LEVEL_NOT_SUPPORTED if there is no such extractor
 */
export async function createSectionCollector(values: ValueWriteOptions): Promise<ValueCollector> {
  return new ValueCollector(await loadExtractor(values.extractor), identityOf(values.extractor), values)
}

/** Bits per pair as stored in files. */
export function hundredthsOf(blockFilterBits: number): number {
  return Math.round(blockFilterBits * 100)
}

export class ValueCollector implements SectionCollector, PairSink {
  readonly #supplied: SuppliedPairs | undefined
  readonly #extractor: Extractor
  readonly #identity: ExtractorIdentity
  readonly #options: ValueWriteOptions
  /** Undefined if the table gets no filter. */
  readonly #filter: Uint8Array | undefined
  readonly #positions: Int32Array
  readonly #blockFilters: BlockFilterCollector | undefined
  readonly #blockFilterHundredths: number
  readonly #fields: number
  readonly #tableZones: ZoneCollector
  readonly #blockZones: ZoneCollector
  readonly #zonesOfBlocks: (readonly (Zone | undefined)[])[] = []
  #pairs = 0
  #hasFailed = false
  #sideSections: readonly Section[] = []

  /** @param supplied pair hashes supplied with puts: the extractor is not called for these */
  constructor(
    extractor: Extractor,
    identity: ExtractorIdentity,
    options: ValueWriteOptions,
    supplied: SuppliedPairs | undefined = undefined
  ) {
    this.#supplied = supplied
    this.#extractor = extractor
    this.#identity = identity
    this.#options = options
    this.#filter = options.filterBits > 0 ? new Uint8Array(Math.ceil(options.filterBits / 8)) : undefined
    this.#positions = new Int32Array(options.filterHashes)
    this.#blockFilterHundredths = hundredthsOf(options.blockFilterBits)
    const bitsPerPair = this.#blockFilterHundredths / 100
    this.#blockFilters = bitsPerPair > 0 ? new BlockFilterCollector(bitsPerPair) : undefined
    this.#fields = extractor.zoneFields.length
    this.#tableZones = new ZoneCollector(this.#fields)
    this.#blockZones = new ZoneCollector(this.#fields)
  }

  add({ keyBytes, keyStart, keyEnd, sequence, kind, valueBytes, valueStart, valueEnd }: EntryRanges): void {
    if (kind === EntryKind.tombstone || this.#hasFailed) return
    const pairs = this.#supplied?.get(sequence)
    if (pairs !== undefined) {
      for (let i = 0; i < pairs.length; i += 2) this.pair(pairs[i]!, pairs[i + 1]!)
      return
    }
    try {
      this.#extractor.extract(keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd, this)
    } catch {
      // A user's module must not keep the store from writing its tables: invariant 2.
      this.#hasFailed = true
    }
  }

  endBlock(): void {
    this.#blockFilters?.endBlock()
    if (this.#fields === 0) return
    this.#zonesOfBlocks.push(this.#blockZones.zones())
    this.#tableZones.merge(this.#blockZones)
    this.#blockZones.reset()
  }

  finish(): readonly Section[] {
    const sections = this.#hasFailed ? [] : this.#sections()
    if (this.#options.placement === 'table') return sections
    this.#sideSections = sections
    return []
  }

  /** With placement 'side-file', the sections that finish() did not return, for writeSideFile(). */
  get sideSections(): readonly Section[] {
    return this.#sideSections
  }

  pair(lo: number, hi: number): void {
    this.#pairs++
    const filter = this.#filter
    if (filter !== undefined) {
      const positions = this.#positions
      rowNumbers(lo, hi, this.#options.filterBits, positions.length, positions)
      for (let i = 0; i < positions.length; i++) {
        const position = positions[i]!
        filter[position >>> 3]! |= 1 << (position & 7)
      }
    }
    this.#blockFilters?.add(lo, hi)
  }

  zone(field: number, value: ZoneValue): void {
    this.#blockZones.add(field, value)
  }

  #sections(): Section[] {
    const filter = this.#filter
    const zones = this.#tableZones.zones()
    const bitsSet = filter === undefined ? 0 : countBits(filter)
    const header = encodeHeader({
      extractor: this.#identity,
      filterBits: filter === undefined ? 0 : this.#options.filterBits,
      filterHashes: filter === undefined ? 0 : this.#options.filterHashes,
      bitsSet,
      pairs: this.#pairs,
      blockFilterHundredths: this.#blockFilterHundredths,
      zones: this.#extractor.zoneFields.map((field, i) => ({ field, zone: zones[i] }))
    })
    const sections: Section[] = [{ name: sectionNames.header, bytes: header }]
    // For a filter without set bits the header says it all.
    if (filter !== undefined && bitsSet > 0) sections.push({ name: sectionNames.filter, bytes: filter })
    if (this.#blockFilters !== undefined) {
      sections.push({ name: sectionNames.blockFilters, bytes: this.#blockFilters.finish() })
    }
    if (this.#fields > 0) {
      const bytes = encodeBlockZones(this.#zonesOfBlocks, this.#fields)
      sections.push({ name: sectionNames.blockZones, bytes })
    }
    return sections
  }
}
