/**
 * Checks a declared index against the documents of a view: every entry that a document should have exists and leads to
 * it, and there are no others.
 *
 * Invariant: each ordinal is added once. Entries of different documents differ, so if the counts are equal and no entry
 * is missing, the index contains exactly the right entries.
 */
import { PetalError } from '../../model/errors.ts'
import type { Document } from '../../model/types.ts'
import type { DeclaredIndex, DocumentEntries } from '../indexes/declared-index.ts'
import { firstEntry, withOrdinal } from '../indexes/entry-key.ts'
import type { IndexStore } from '../indexes/index-store.ts'
import type { ReadView } from '../read/read-view.ts'

const runEntries = 1000
const nothing = new Uint8Array(0)

export class DeclaredCheck {
  readonly #store: IndexStore
  readonly #index: DeclaredIndex
  readonly #view: ReadView
  readonly #onProblem: (what: string) => void
  /** Keys still to be looked up, and the ordinals they should lead to. */
  #keys: Uint8Array[] = []
  #ordinals: number[] = []
  #expected = 0

  /** @param onProblem reports a problem */
  constructor(store: IndexStore, index: DeclaredIndex, view: ReadView, onProblem: (what: string) => void) {
    this.#store = store
    this.#index = index
    this.#view = view
    this.#onProblem = onProblem
  }

  add(ordinal: number, document: Document): void {
    const { definition, area } = this.#index
    const had = this.#entriesOf(ordinal, document)
    if (had === undefined) return
    if ((had.arrays & ~this.#index.arrays) !== 0) this.#report(`has no record of the arrays in document ${ordinal}`)
    for (const { key } of had.entries) {
      this.#keys.push(area.key(definition.unique ? key : withOrdinal(key, ordinal)))
      this.#ordinals.push(ordinal)
    }
    this.#expected += had.entries.length
  }

  /** Looks up the entries of the documents added since the last call. */
  async checkEntries(): Promise<void> {
    const keys = this.#keys
    const ordinals = this.#ordinals
    this.#keys = []
    this.#ordinals = []
    const { unique } = this.#index.definition
    for (let from = 0; from < keys.length; from += runEntries) {
      const run = keys.slice(from, from + runEntries)
      const values = await this.#store.values(run, this.#view.snapshot)
      for (let i = 0; i < run.length; i++) {
        const value = values[i]
        const ordinal = ordinals[from + i]!
        if (value === undefined) this.#report(`has no entry for document ${ordinal}`)
        else if (unique) {
          const led = this.#index.ordinalOf(nothing, value)
          if (led !== ordinal) this.#report(`points to document ${led} instead of ${ordinal}`)
        }
      }
    }
  }

  /** Counts the entries, after all documents were added and looked up. @param pauseIfDue called between runs of entries */
  async checkCount(pauseIfDue: () => Promise<void>): Promise<void> {
    const how = { reverse: false, values: this.#index.definition.unique, snapshot: this.#view.snapshot }
    const iterator = this.#store.entries(this.#index.area, { from: firstEntry, to: undefined }, how)
    this.#view.addReader(iterator)
    let count = 0
    try {
      for (;;) {
        const entries = await iterator.nextv(runEntries)
        if (entries.length === 0) break
        for (const [key, value] of entries) if (this.#index.ordinalOf(key, value) < this.#view.limit) count++
        await pauseIfDue()
      }
    } finally {
      this.#view.closeReader(iterator)
    }
    if (count !== this.#expected) this.#report(`has ${count} entries, but the documents need ${this.#expected}`)
  }

  #entriesOf(ordinal: number, document: Document): DocumentEntries | undefined {
    try {
      return this.#index.entriesOf(document)
    } catch (error) {
      if (!(error instanceof PetalError)) throw error
      this.#report(`cannot index document ${ordinal}: ${error.message}`)
      return undefined
    }
  }

  #report(what: string): void {
    this.#onProblem(`the declared index '${this.#index.definition.name}' ${what}`)
  }
}
