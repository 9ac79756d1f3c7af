/** Adds stored documents to an open segment: as bytes if they are JSON that the scanner reads, otherwise as objects. */
import type { Document } from '../../model/types.ts'
import type { FlatDocument } from '../pairs/flatten.ts'
import type { OpenSegment } from '../segment/open-segment.ts'
import type { StoredDocument } from '../stored-source.ts'
import type { PairList } from '../tune/pair-list.ts'
import type { Sampler } from '../tune/sampler.ts'
import type { ByteIngest } from './byte-ingest.ts'

export class StoredIngest {
  readonly #flatten: (document: Document) => FlatDocument
  readonly #byteIngest: ByteIngest | undefined

  /** @param byteIngest undefined when the index's hash is not the scanner's */
  constructor(flatten: (document: Document) => FlatDocument, byteIngest: ByteIngest | undefined) {
    this.#flatten = flatten
    this.#byteIngest = byteIngest
  }

  /**
   * Adds the document at the segment's next position.
   * @param sampler observes the document
   */
  add(segment: OpenSegment, stored: StoredDocument, sampler?: Sampler): void {
    if (this.#addBytes(segment, stored, sampler)) return
    const flat = this.#flatten(stored.document())
    segment.add(flat)
    sampler?.observe(flat)
    this.#byteIngest?.learn(flat)
  }

  #addBytes(segment: OpenSegment, { bytes, start, length, form = 'json' }: StoredDocument, sampler?: Sampler): boolean {
    if (bytes === undefined || this.#byteIngest === undefined) return false
    const onPairs = sampler && ((pairs: PairList): void => sampler.observePairs(pairs))
    return this.#byteIngest.add(segment, bytes, start, length, form, onPairs) !== false
  }
}
