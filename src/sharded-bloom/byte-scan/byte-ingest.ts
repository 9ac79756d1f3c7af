/**
 * Documents as bytes into the open segment: whether the scanner is asked at all, and what becomes of its answer.
 *
 * A collection whose documents the scanner cannot read must not pay for being tried: after many refusals it is asked
 * only now and then.
 */
import type { Document } from '../../model/types.ts'
import type { FlatDocument } from '../pairs/flatten.ts'
import type { OpenSegment } from '../segment/open-segment.ts'
import type { PairList } from '../tune/pair-list.ts'
import { type JsonForm, type Told, toldForm } from './json-form.ts'
import type { NotWritten } from './json-writer.ts'
import { Scanner, type ScanResult } from './scanner.ts'
import type { SeedOf } from './scanner-paths.ts'
import { giveBackScanner, type ScannerOwner, takeScanner, touchScanner } from './scanner-pool.ts'

/** Refusals, less documents read since, after which the scanner rests. */
const maxRefusals = 128
/** Documents that it rests for, and then again after half as many refusals. */
const defaultRest = 2048
/** Documents between two signs of life, and between two attempts to get a scanner. */
const touchDocuments = 256

export class ByteIngest implements ScannerOwner {
  readonly #seedOf: SeedOf
  readonly #restDocuments: number
  #scanner: Scanner | undefined
  #refusals = 0
  /** Documents that are not tried. */
  #rest = 0
  #untilTouch = 0
  #wantsToLearn = false

  constructor(seedOf: SeedOf, restDocuments = defaultRest) {
    this.#seedOf = seedOf
    this.#restDocuments = restDocuments
  }

  /**
   * The document's record, as JsonWriter.write() makes it: valid until the next call, and quickly added by add() when that comes next.
   * @param isSampled add() will be told to tell of its pairs
   * @returns undefined when there is no scanner to do it
   */
  write(segment: OpenSegment, document: Document, isSampled: boolean): Uint8Array | NotWritten | undefined {
    return this.#rest > 0 ? undefined : this.#scanner?.write(segment, document, isSampled)
  }

  /**
   * Adds the document at the segment's next position.
   * @param onPairs told of the pairs of a document that was added; they are valid until the next one
   * @returns false when it has to be flattened and added as an object; nothing has changed then
   */
  add(
    segment: OpenSegment,
    bytes: Uint8Array,
    offset: number,
    length: number,
    form: JsonForm,
    onPairs?: (pairs: PairList) => void
  ): Told {
    if (this.#rest > 0) {
      this.#rest--
      return false
    }
    if (--this.#untilTouch < 0) this.#touch()
    const scanner = this.#scanner
    if (scanner === undefined) return false
    const result = scanner.scan(segment, bytes, offset, length, form, onPairs !== undefined)
    const isAdded = this.#add(segment, scanner, result)
    if (isAdded) onPairs?.(scanner.pairs)
    return isAdded && toldForm(form, scanner.hasWrappers)
  }

  /**
   * Takes bytes of several documents, for addStaged() to be called for each next.
   * @returns false where add() has to be asked for one after the other
   */
  stage(bytes: Uint8Array): boolean {
    if (this.#rest > 0) return false
    if (this.#scanner === undefined) this.#touch()
    return this.#scanner?.stage(bytes) === true
  }

  /** As add(), of a document among those that were staged last. REQUIRES: no other call came since, but for learn(). */
  addStaged(segment: OpenSegment, offset: number, length: number, form: JsonForm): Told {
    if (--this.#untilTouch < 0) this.#touch()
    const scanner = this.#scanner
    if (scanner === undefined) return false
    const isAdded = this.#add(segment, scanner, scanner.scanStaged(segment, offset, length, form))
    return isAdded && toldForm(form, scanner.hasWrappers)
  }

  #add(segment: OpenSegment, scanner: Scanner, result: ScanResult): boolean {
    if (result === 'scanned') {
      segment.addScanned(scanner)
      if (this.#refusals > 0) this.#refusals--
      return true
    }
    this.#wantsToLearn = result === 'unknown'
    if (++this.#refusals >= maxRefusals) {
      this.#refusals = maxRefusals / 2
      this.#rest = this.#restDocuments
    }
    return false
  }

  /** Learns the paths of a document that was added as an object, if add() could not read it for want of them. */
  learn(flat: FlatDocument): void {
    if (!this.#wantsToLearn) return
    this.#wantsToLearn = false
    if (this.#scanner === undefined) return
    const paths = new Set<string>()
    for (const { node } of flat.shape.facts()) paths.add(node.path)
    this.#scanner.learn(paths)
  }

  loseScanner(): void {
    this.#scanner?.close()
    this.#scanner = undefined
  }

  close(): void {
    this.loseScanner()
    giveBackScanner(this)
  }

  #touch(): void {
    this.#untilTouch = touchDocuments
    if (this.#scanner !== undefined) {
      touchScanner(this)
      return
    }
    const module = takeScanner(this)
    if (module !== undefined) this.#scanner = new Scanner(module, this.#seedOf)
  }
}
