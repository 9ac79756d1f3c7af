/** A table as a place to search, block by block; block filters and block zones select the blocks. */
import { matchingBlocks } from './block-filters.ts'
import { Decoder } from './decoder.ts'
import { sectionNames } from './header.ts'
import type { Hits } from './hits.ts'
import type { LookupCondition, LookupSource } from './lookup-source.ts'
import { unlessDamaged } from './table-values.ts'
import type { ValueTable, ValueView } from './value-view.ts'
import type { CandidateTable, Values } from './values.ts'
import { overlappingBlocks } from './zone-maps.ts'

export class TableSource implements LookupSource {
  readonly smallestSequence: number
  readonly largestSequence: number
  readonly #candidate: CandidateTable
  readonly #values: Values
  readonly #view: ValueView
  readonly #condition: LookupCondition

  constructor(candidate: CandidateTable, values: Values, view: ValueView, condition: LookupCondition) {
    this.smallestSequence = candidate.meta.smallestSequence
    this.largestSequence = candidate.meta.largestSequence
    this.#candidate = candidate
    this.#values = values
    this.#view = view
    this.#condition = condition
  }

  *search(hits: Hits): Generator<void, void> {
    const { tables } = this.#view
    const { meta } = this.#candidate
    const condition = this.#condition
    if (condition.kind === 'pair' && !this.#values.mayHold(this.#candidate, this.#view, condition.positions)) return
    const { blockCount } = tables.table(meta)
    const blocks = this.#blocksWorthReading(tables.table(meta)) ?? Array.from({ length: blockCount }, (_, i) => i)
    for (const block of blocks) {
      // The table may have been closed meanwhile: by a shadow check, or by others while this one yielded.
      const cursor = tables.table(meta).blockCursor(block)
      for (cursor.seekToFirst(); cursor.isValid; cursor.next()) hits.offer(cursor)
      cursor.close()
      yield
    }
  }

  /** Undefined if nothing is known: all blocks. */
  #blocksWorthReading(table: ValueTable): number[] | undefined {
    const condition = this.#condition
    const { values } = this.#candidate
    if (values?.header === undefined) return undefined
    if (condition.kind === 'pair') {
      if (values.header.blockFilterHundredths === 0) return undefined
      return this.#decode(sectionNames.blockFilters, table, (decoder) =>
        matchingBlocks(decoder, table.blockCount, condition.hashes)
      )
    }
    const field = values.zoneFieldNumber(condition.field)
    if (field < 0) return undefined
    return this.#decode(sectionNames.blockZones, table, (decoder) =>
      overlappingBlocks(decoder, field, table.blockCount, condition.encoded)
    )
  }

  #decode(name: string, table: ValueTable, decode: (decoder: Decoder) => number[]): number[] | undefined {
    const { meta, values } = this.#candidate
    const bytes = this.#values.sections.section(meta.number, name, () => values?.section(name, table))
    if (bytes === undefined) return undefined
    return unlessDamaged(() => decode(new Decoder(bytes, values?.path ?? '')))
  }
}
