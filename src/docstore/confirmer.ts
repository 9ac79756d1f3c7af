/**
 * Turns candidates into matches and collects them in slices of bounded size.
 */
import type { Document } from '../model/types.ts'
import type { ByteTest } from '../query/byte-prefilter.ts'
import type { CompiledFilter } from '../query/filter.ts'
import type { RecordPlace } from './document-scan.ts'
import type { Meter } from './meter.ts'
import { decodeRecord } from './record.ts'

/** A document that matches, with what an update needs to replace it. */
export interface Match {
  readonly ordinal: number
  readonly record: string
  readonly document: Document
}

type Test = Pick<CompiledFilter, 'matches' | 'prefilter' | 'byteTest'>

/** Slices grow from the first, so that a reader who stops early has not paid for a thousand documents. */
const firstSliceDocuments = 32
const maxSliceDocuments = 1000
const maxSliceCharacters = 4 * 1024 * 1024

export class Confirmer {
  readonly #filter: Test
  readonly #mayMatch: ByteTest | undefined
  readonly #meter: Meter
  #slice: Match[] = []
  #characters = 0
  #sliceDocuments = firstSliceDocuments
  #remaining: number

  /** @param maxMatches no more than these are wanted */
  constructor(filter: Test, meter: Meter, maxMatches: number) {
    this.#filter = filter
    this.#mayMatch = filter.byteTest?.()
    this.#meter = meter
    this.#remaining = maxMatches
  }

  /** Matches still wanted. */
  get remaining(): number {
    return this.#remaining
  }

  get isDone(): boolean {
    return this.#remaining <= 0
  }

  get isSliceFull(): boolean {
    return this.#slice.length >= this.#sliceDocuments || this.#characters >= maxSliceCharacters
  }

  get hasMatches(): boolean {
    return this.#slice.length > 0
  }

  /** A record read for a candidate. None is there when the index holds a document live that the store does not have. */
  offer(ordinal: number, record: string | undefined, isCertain: boolean): void {
    if (record === undefined) return
    this.#meter.documentsFetched++
    if (!isCertain) {
      this.#meter.tested++
      if (this.#filter.prefilter?.(record) === false) return
    }
    const document = decodeRecord(record)
    if (!isCertain) {
      if (!this.#filter.matches(document)) return
      this.#meter.confirmed++
    }
    this.#slice.push({ ordinal, record, document })
    this.#characters += record.length
    this.#remaining--
  }

  /** A record where it lies: most of those that do not match are never decoded. */
  offerPlace(ordinal: number, place: RecordPlace, isCertain: boolean): void {
    if (!isCertain && this.#mayMatch?.(place.bytes, place.start, place.end) === false) {
      this.#meter.documentsFetched++
      this.#meter.tested++
    } else {
      this.offer(ordinal, place.text(), isCertain)
    }
  }

  take(): Match[] {
    const slice = this.#slice
    this.#slice = []
    this.#characters = 0
    this.#sliceDocuments = Math.min(this.#sliceDocuments * 4, maxSliceDocuments)
    return slice
  }
}
