/**
 * Adds documents to the open segment by their bytes: decides whether to try the scanner, and handles its result.
 *
 * A collection whose documents the scanner cannot read must not pay for attempts: after many refusals the scanner is
 * tried only occasionally.
 */
import type { Document } from '../../model/types.ts'
import type { FlatDocument } from '../pairs/flatten.ts'
import type { OpenSegment } from '../segment/open-segment.ts'
import type { PairList } from '../tune/pair-list.ts'
import { type AcceptedForm, acceptedForm, type JsonForm } from './json-form.ts'
import type { NotWritten } from './json-writer.ts'
import { Scanner, type ScanResult } from './scanner.ts'
import type { SeedOf } from './scanner-paths.ts'
import { acquireScanner, releaseScanner, type ScannerOwner, touchScanner } from './scanner-pool.ts'

/** Refusals, less documents scanned since, after which the scanner rests. */
const maxRefusals = 128
/** Number of documents it rests for, after which half as many refusals make it rest again. */
const defaultBackoff = 2048
/** Documents between two calls of touchScanner(), and between two attempts to get a scanner. */
const touchDocuments = 256

export class ByteIngest implements ScannerOwner {
  readonly #seedOf: SeedOf
  readonly #backoffDocuments: number
  #scanner: Scanner | undefined
  #refusals = 0
  /** Number of documents not to try. */
  #backoff = 0
  #untilTouch = 0
  #wantsToLearn = false

  constructor(seedOf: SeedOf, backoffDocuments = defaultBackoff) {
    this.#seedOf = seedOf
    this.#backoffDocuments = backoffDocuments
  }

  /**
   * Returns the document's record, as JsonWriter.write() makes it: valid until the next call. If add() with it is the
   * next call, it takes little time.
   * @param isSampled add() will be called with `onPairs`
   * @returns undefined when there is no scanner
   */
  write(segment: OpenSegment, document: Document, isSampled: boolean): Uint8Array | NotWritten | undefined {
    return this.#backoff > 0 ? undefined : this.#scanner?.write(segment, document, isSampled)
  }

  /**
   * Adds the document at the segment's next position.
   * @param onPairs called with the pairs of an added document; they are valid until the next one
   * @returns false when the document has to be flattened and added as an object; nothing has changed then
   */
  add(
    segment: OpenSegment,
    bytes: Uint8Array,
    offset: number,
    length: number,
    form: JsonForm,
    onPairs?: (pairs: PairList) => void
  ): AcceptedForm {
    if (this.#backoff > 0) {
      this.#backoff--
      return false
    }
    if (--this.#untilTouch < 0) this.#touch()
    const scanner = this.#scanner
    if (scanner === undefined) return false
    const result = scanner.scan(segment, bytes, offset, length, form, onPairs !== undefined)
    const isAdded = this.#add(segment, scanner, result)
    if (isAdded) onPairs?.(scanner.pairs)
    return isAdded && acceptedForm(form, scanner.hasWrappers)
  }

  /**
   * Accepts the bytes of several documents, each then added by addStaged().
   * @returns false when add() has to be used for each instead
   */
  stage(bytes: Uint8Array): boolean {
    if (this.#backoff > 0) return false
    if (this.#scanner === undefined) this.#touch()
    return this.#scanner?.stage(bytes) === true
  }

  /** As add(), for a document among those staged last. REQUIRES: no other call in between, except learn(). */
  addStaged(segment: OpenSegment, offset: number, length: number, form: JsonForm): AcceptedForm {
    if (--this.#untilTouch < 0) this.#touch()
    const scanner = this.#scanner
    if (scanner === undefined) return false
    const isAdded = this.#add(segment, scanner, scanner.scanStaged(segment, offset, length, form))
    return isAdded && acceptedForm(form, scanner.hasWrappers)
  }

  #add(segment: OpenSegment, scanner: Scanner, result: ScanResult): boolean {
    if (result === 'scanned' && segment.takesScanned(scanner)) {
      segment.addScanned(scanner)
      if (this.#refusals > 0) this.#refusals--
      return true
    }
    this.#wantsToLearn = result === 'unknown'
    if (++this.#refusals >= maxRefusals) {
      this.#refusals = maxRefusals / 2
      this.#backoff = this.#backoffDocuments
    }
    return false
  }

  /** Learns the paths of a document added as an object, if add() rejected it because it did not know them. */
  learn(flat: FlatDocument): void {
    if (!this.#wantsToLearn) return
    this.#wantsToLearn = false
    if (this.#scanner === undefined) return
    const paths = new Set<string>()
    for (const { node } of flat.shape.facts()) paths.add(node.path)
    this.#scanner.learn(paths)
  }

  onScannerRevoked(): void {
    this.#scanner?.close()
    this.#scanner = undefined
  }

  close(): void {
    this.onScannerRevoked()
    releaseScanner(this)
  }

  #touch(): void {
    this.#untilTouch = touchDocuments
    if (this.#scanner !== undefined) {
      touchScanner(this)
      return
    }
    const module = acquireScanner(this)
    if (module !== undefined) this.#scanner = new Scanner(module, this.#seedOf)
  }
}
