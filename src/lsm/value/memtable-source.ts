/** A memtable as a place to search, through its value index. */
import { EntryRecord } from '../format/entry.ts'
import type { Memtable } from '../memtable/memtable.ts'
import type { Hits } from './hits.ts'
import type { LookupCondition, LookupSource } from './lookup-source.ts'
import type { MemtableIndex } from './memtable-index.ts'
import type { Values } from './values.ts'

/** Entries offered before yielding. */
const stride = 64

/** Milliseconds of indexing before yielding. */
const indexingSlice = 2

export class MemtableSource implements LookupSource {
  readonly smallestSequence: number
  readonly largestSequence: number
  readonly #memtable: Memtable
  readonly #index: MemtableIndex
  readonly #condition: LookupCondition
  /** Number of the zone field; −1 if the field has no zones. */
  readonly #fieldNumber: number

  constructor(memtable: Memtable, values: Values, condition: LookupCondition) {
    this.smallestSequence = memtable.smallestSequence
    this.largestSequence = memtable.largestSequence
    this.#memtable = memtable
    this.#index = values.memtableIndex(memtable)
    this.#condition = condition
    this.#fieldNumber = condition.kind === 'range' ? values.extractor.zoneFields.indexOf(condition.field) : -1
  }

  *search(hits: Hits): Generator<void, void> {
    while (!this.#index.update(performance.now() + indexingSlice)) yield
    const entry = new EntryRecord()
    let offered = 0
    for (const number of this.#candidates()) {
      this.#memtable.entryAt(number, entry)
      hits.offer(entry)
      if (++offered % stride === 0) yield
    }
  }

  #candidates(): readonly number[] {
    const condition = this.#condition
    if (condition.kind === 'pair') return this.#index.entriesWith(condition.hashes[0]!, condition.hashes[1]!)
    if (this.#fieldNumber >= 0) return this.#index.entriesInRange(this.#fieldNumber, condition.range)
    return Array.from({ length: this.#memtable.entryCount }, (_, number) => number)
  }
}
