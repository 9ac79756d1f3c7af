/**
 * Turns candidates into matches and collects them in slices of bounded size.
 */
import { PetalError } from '../../model/errors.ts'
import type { Document } from '../../model/types.ts'
import type { ByteTest } from '../../query/byte-prefilter.ts'
import type { CompiledFilter } from '../../query/filter.ts'
import { copyByPlan } from '../documents/copy-plan.ts'
import type { DocumentCache, KeptDocument } from '../documents/document-cache.ts'
import { decodeRecord } from '../documents/record.ts'
import type { RecordPlace } from './document-scan.ts'
import type { Meter } from './meter.ts'

/** A document that matches, with what an update needs to replace it. */
export interface Match {
  readonly ordinal: number
  /** As stored; read now where the document was at hand decoded. */
  readonly record: string
  readonly document: Document
  /** Length of the record. */
  readonly characters: number
}

/** Where a record that was not read yet is read from. */
export interface RecordSource {
  record(ordinal: number): string | undefined
}

type Test = Pick<CompiledFilter, 'matches' | 'prefilter' | 'byteTest'>

/** Slices grow from the first, so that a reader who stops early has not paid for a thousand documents. */
const firstSliceDocuments = 32
const maxSliceDocuments = 1000
const maxSliceCharacters = 4 * 1024 * 1024

const passesAll: ByteTest = { mayMatch: () => true, mayHold: () => true }

export class Confirmer {
  readonly #filter: Test
  /** Made when the first record is there. */
  #byteTest: ByteTest | undefined
  readonly #meter: Meter
  #slice: Match[] = []
  #characters = 0
  #sliceDocuments = firstSliceDocuments
  #remaining: number
  #found = 0
  readonly #isCounting: boolean

  /**
   * @param maxMatches no more than these are wanted
   * @param isCounting nobody looks at the documents of matches
   */
  constructor(filter: Test, meter: Meter, maxMatches: number, isCounting = false) {
    this.#isCounting = isCounting
    this.#filter = filter
    this.#meter = meter
    this.#remaining = maxMatches
  }

  /** So many certain matches are not wanted, and not looked at. */
  passOver(count: number): void {
    this.#meter.passedOver += count
    this.#remaining -= count
    this.#found += count
  }

  /** Matches so far, those that were passed over among them. */
  get found(): number {
    return this.#found
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

  /**
   * A record read for a candidate. None is there when the index holds a document live that the store does not have.
   * @param cache is offered the document
   */
  offer(ordinal: number, record: string | undefined, isCertain: boolean, cache?: DocumentCache): void {
    if (record === undefined) return
    this.#meter.documentsFetched++
    if (!isCertain) {
      this.#meter.tested++
      if (this.#filter.prefilter?.(record) === false) {
        // The index will name it again to whoever asks the same again.
        cache?.offer(ordinal, () => decodeRecord(record), record.length)
        return
      }
    }
    const document = decodeRecord(record)
    cache?.offer(ordinal, document, record.length)
    if (!isCertain) {
      if (!this.#filter.matches(document)) return
      this.#meter.confirmed++
    }
    this.#push({ ordinal, record, document, characters: record.length })
  }

  /** As offer(), of a document that is kept decoded: copied when it matches. */
  offerKept(ordinal: number, kept: KeptDocument, isCertain: boolean, records: RecordSource): void {
    this.#meter.documentsFetched++
    const { document, plan } = kept
    if (!isCertain) {
      this.#meter.tested++
      if (!this.#filter.matches(document)) return
      this.#meter.confirmed++
    }
    const copy = this.#isCounting ? document : copyByPlan(document, plan)
    this.#push(new KeptMatch(ordinal, copy, kept.characters, records))
  }

  /** False when the bytes of a record tell that it does not match: most of those that do not are never decoded. */
  mayMatch({ bytes, start, end, block }: RecordPlace, isCertain: boolean): boolean {
    if (isCertain || this.byteTest.mayMatch(bytes, start, end, block)) return true
    this.noteRuledOut(1)
    return false
  }

  /** Of this read: it remembers which block it searched last. */
  get byteTest(): ByteTest {
    this.#byteTest ??= this.#filter.byteTest?.() ?? passesAll
    return this.#byteTest
  }

  /** Whether bytes can tell of a record that it does not match. */
  get hasByteTest(): boolean {
    return this.byteTest !== passesAll
  }

  /** So many candidates do not match, as the bytes of their records tell. */
  noteRuledOut(count: number): void {
    this.#meter.documentsFetched += count
    this.#meter.tested += count
  }

  take(): Match[] {
    const slice = this.#slice
    this.#slice = []
    this.#characters = 0
    this.#sliceDocuments = Math.min(this.#sliceDocuments * 4, maxSliceDocuments)
    return slice
  }

  #push(match: Match): void {
    this.#slice.push(match)
    this.#characters += match.characters
    this.#remaining--
    this.#found++
  }
}

class KeptMatch implements Match {
  readonly ordinal: number
  readonly document: Document
  readonly characters: number
  readonly #records: RecordSource

  constructor(ordinal: number, document: Document, characters: number, records: RecordSource) {
    this.ordinal = ordinal
    this.document = document
    this.characters = characters
    this.#records = records
  }

  get record(): string {
    const record = this.#records.record(this.ordinal)
    if (record !== undefined) return record
    throw new PetalError('DataCorruption', `The document of ordinal ${this.ordinal} is gone`)
  }
}
