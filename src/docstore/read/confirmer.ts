/** Turns candidates into matches and collects them in slices of bounded size. */
import { PetalError } from '../../model/errors.ts'
import type { Document } from '../../model/types.ts'
import type { ByteTest } from '../../query/byte-prefilter.ts'
import type { CompiledFilter } from '../../query/filter.ts'
import { copyPlans } from '../documents/copy-plan.ts'
import type { CachedDocument, DocumentCache } from '../documents/document-cache.ts'
import { decodeRecord } from '../documents/record.ts'
import type { DocumentScan, RecordPlace } from './document-scan.ts'
import type { FieldsRead } from './fields-read.ts'
import type { Meter } from './meter.ts'
import type { ReadView } from './read-view.ts'
import { resumptions } from './steps.ts'

/** A matching document, with what an update needs to replace it. */
export interface Match {
  readonly ordinal: number
  /** As stored; read on access if the document came from the cache, or has only some of its fields. */
  readonly record: string
  readonly document: Document
  /** Length of the document's JSON: a measure of its size. */
  readonly characters: number
}

/** Reads a record that has not been read yet. */
export interface RecordSource {
  record(ordinal: number): string | undefined
}

type Test = Pick<CompiledFilter, 'matches' | 'prefilter' | 'byteTest' | 'hasCallback'>

/**
 * Slices grow to a multiple of the one before, so that a reader that stops early has not paid for a thousand documents,
 * and a read that fails has returned most of what it found.
 */
const firstSliceDocuments = 32
const sliceGrowth = 4
export const maxSliceDocuments = 1000
export const maxSliceCharacters = 4 * 1024 * 1024

const passesAll: ByteTest = { mayMatch: () => true, mayHold: () => true }

export class Confirmer {
  readonly #filter: Test
  /** Created for the first record. */
  #byteTest: ByteTest | undefined
  /** Asked of the filter for the first match. */
  #hasCallback: boolean | undefined
  readonly #meter: Meter
  #slice: Match[] = []
  #characters = 0
  #sliceDocuments = firstSliceDocuments
  #remaining: number
  #found = 0
  /** Matches among the candidates examined. */
  #matched = 0
  readonly #examinedBefore: number
  readonly #isCounting: boolean

  /**
   * @param maxMatches upper limit of the matches wanted
   * @param isCounting documents of matches are not used
   */
  constructor(filter: Test, meter: Meter, maxMatches: number, isCounting = false) {
    this.#isCounting = isCounting
    this.#filter = filter
    this.#meter = meter
    this.#examinedBefore = meter.documentsFetched
    this.#remaining = maxMatches
  }

  /** Skips certain matches that are not wanted, without reading them. */
  skipCertain(count: number): void {
    this.#meter.passed += count
    this.count(count)
  }

  /** Counts certain matches that are not read. */
  count(matches: number): void {
    this.#remaining -= matches
    this.#found += matches
  }

  /** Number of matches so far, including skipped ones. */
  get found(): number {
    return this.#found
  }

  /** Number of matches still wanted. */
  get remaining(): number {
    return this.#remaining
  }

  get isDone(): boolean {
    return this.#remaining <= 0
  }

  /** About how many candidates it takes to find all matches still wanted; as many as these while none was examined. */
  get expectedCandidates(): number {
    return this.#remaining * Math.max(1, this.examined / Math.max(1, this.#matched))
  }

  /** Number of candidates read so far. */
  get examined(): number {
    return this.#meter.documentsFetched - this.#examinedBefore
  }

  /** The fraction of them that match. */
  get matchShare(): number {
    return this.#matched / Math.max(1, this.examined)
  }

  get isSliceFull(): boolean {
    return this.#slice.length >= this.#sliceDocuments || this.#characters >= maxSliceCharacters
  }

  get hasMatches(): boolean {
    return this.#slice.length > 0
  }

  /**
   * Processes the record read for a candidate; undefined if the index considers a document live that the store does not
   * have.
   * @param cache to offer the document to
   */
  offer(ordinal: number, record: string | undefined, isCertain: boolean, cache?: DocumentCache): void {
    if (record === undefined) return
    this.#meter.documentsFetched++
    if (!isCertain && this.#filter.prefilter?.(record) === false) {
      this.#meter.tested++
      // A repetition of the query gets the same candidate, so the document is still worth caching.
      cache?.offer(ordinal, () => decodeRecord(record), record.length)
      return
    }
    const document = decodeRecord(record)
    cache?.offer(ordinal, document, record.length)
    if (!isCertain && !this.#test(document)) return
    this.#push({ ordinal, record, document, characters: record.length })
  }

  /**
   * Like offer(), for the record that a scan is at, of which only the fields that the read looks at are decoded. REQUIRES:
   * mayMatch(), or that it is certain
   */
  offerScanned(
    scan: DocumentScan,
    isCertain: boolean,
    view: Pick<ReadView, 'cacheToFill' | 'record'>,
    fields: FieldsRead
  ): void {
    const { ordinal } = scan
    const { picker } = fields
    const reader = picker ?? (isCertain || !this.#isSelective ? undefined : fields.tester)
    const part = reader?.decode(scan.bytes, scan.start, scan.end)
    const isFalse = part !== undefined && !isCertain && !this.#test(part)
    if (part === undefined || (picker === undefined && !isFalse)) {
      this.offer(ordinal, scan.text(), isCertain || part !== undefined, view.cacheToFill)
      return
    }
    this.#meter.documentsFetched++
    view.cacheToFill?.offer(ordinal, () => decodeRecord(scan.text()), scan.end - scan.start)
    if (!isFalse) this.#push(new PartRead(ordinal, part, reader!.characters, view))
  }

  /** Whether most candidates so far did not match. */
  get #isSelective(): boolean {
    return 2 * this.#matched <= this.examined
  }

  /** Like offer(), for a cached document, which is copied if it matches. */
  offerCached(
    ordinal: number,
    kept: CachedDocument,
    isCertain: boolean,
    view: Pick<ReadView, 'cache' | 'record'>
  ): void {
    this.#meter.documentsFetched++
    if (!isCertain) {
      if (!this.#test(kept.document)) return
      this.#hasCallback ??= this.#filter.hasCallback
      // The function may have changed Object.prototype.
      if (this.#hasCallback) copyPlans.check()
    }
    const copy = this.#isCounting ? kept.document : view.cache.copy(kept, resumptions)
    this.#push(new LaterRead(ordinal, copy, kept.characters, view))
  }

  /** False if the bytes of a record show that it does not match: most such records are never decoded. */
  mayMatch({ bytes, start, end, block }: RecordPlace, isCertain: boolean): boolean {
    if (isCertain || this.byteTest.mayMatch(bytes, start, end, block)) return true
    this.noteRuledOut(1)
    return false
  }

  /** Belongs to this read, because it remembers the block it searched last. */
  get byteTest(): ByteTest {
    this.#byteTest ??= this.#filter.byteTest?.() ?? passesAll
    return this.#byteTest
  }

  /** Whether the bytes of a record can show that it does not match. */
  get hasByteTest(): boolean {
    return this.byteTest !== passesAll
  }

  /** Counts candidates that the bytes of their records have ruled out. */
  noteRuledOut(count: number): void {
    this.#meter.documentsFetched += count
    this.#meter.tested += count
  }

  take(): Match[] {
    const slice = this.#slice
    this.#slice = []
    this.#characters = 0
    // A slice may have been taken before it was full, at the end of a turn: that is no reason for larger ones.
    const grown = Math.min(slice.length * sliceGrowth, maxSliceDocuments)
    this.#sliceDocuments = Math.max(this.#sliceDocuments, grown)
    return slice
  }

  #test(document: Document): boolean {
    this.#meter.tested++
    if (!this.#filter.matches(document)) return false
    this.#meter.confirmed++
    return true
  }

  #push(match: Match): void {
    this.#slice.push(match)
    this.#characters += match.characters
    this.#remaining--
    this.#matched++
    this.#found++
  }
}

/** A match whose record is read on access. */
export class LaterRead implements Match {
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
    throw new PetalError('DataCorruption', `The document with ordinal ${this.ordinal} is missing`)
  }
}

/** A match whose document may lack what the read does not look at. */
class PartRead extends LaterRead {}

/** Returns the match with its whole document. */
export function completed(match: Match): Match {
  if (!(match instanceof PartRead)) return match
  const { ordinal, record } = match
  return { ordinal, record, document: decodeRecord(record), characters: record.length }
}
