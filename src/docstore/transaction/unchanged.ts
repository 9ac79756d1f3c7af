/** The committed documents of a collection as a transaction sees them: without those that it has changed. */
import { OrdinalSet } from '../../sharded-bloom/ordinal-set.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { FindSource } from '../read/find-source.ts'
import type { ReadView } from '../read/read-view.ts'

export class UnchangedDocuments implements FindSource {
  readonly #collection: OpenCollection
  #changed = OrdinalSet.empty

  constructor(collection: OpenCollection) {
    this.#collection = collection
  }

  /** Hides committed documents from views that are captured from now on. */
  leaveOut(ordinals: Iterable<number>): void {
    this.#changed = this.#changed.with(ordinals)
  }

  /** No read finds a changed document, not even to test it: an expression may fail for one that is not seen any more. */
  capture(fillsCache?: boolean): ReadView {
    return this.#collection.capture(fillsCache, this.#changed)
  }

  get declared(): FindSource['declared'] {
    return this.#collection.declared
  }

  get state(): FindSource['state'] {
    return this.#collection.state
  }

  get autoRebuild(): FindSource['autoRebuild'] {
    return this.#collection.autoRebuild
  }
}
