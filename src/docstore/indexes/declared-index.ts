/**
 * A declared index of an open collection: its area, and the entries of a document.
 *
 * Invariant: `arrays` covers every committed document. Bits are only ever set, and before a document is committed.
 */
import type { PetalError } from '../../model/errors.ts'
import { toText } from '../../model/key-text.ts'
import type { Document } from '../../model/types.ts'
import { someValue } from '../../query/path-values.ts'
import { isPresent } from '../../query/predicates.ts'
import { compileDocumentKeys, type SortKey } from '../../query/sort-key.ts'
import type { Area } from '../store/layout.ts'
import type { IndexDefinition } from './definition.ts'
import { ordinalAtEnd, valuesKey } from './entry-key.ts'
import { parallelArrays } from './errors.ts'

/** The entries of a document in an index. */
export interface DocumentEntries {
  readonly entries: readonly Entry[]
  readonly arrays: number
}

export interface Entry {
  readonly values: SortKey
  /** The part of the entry's key that encodes the values. */
  readonly key: Uint8Array
}

const noEntries: DocumentEntries = { entries: [], arrays: 0 }

/** Entries ordered by some fields, as reads see them. */
export interface EntrySource {
  readonly definition: IndexDefinition
  readonly area: Area
  /** Bit i is set if field i of some document leads to or through an array. */
  readonly arrays: number
  ordinalOf(key: Uint8Array, value: Uint8Array): number
}

export class DeclaredIndex implements EntrySource {
  readonly definition: IndexDefinition
  readonly area: Area
  /** False while it is being built: it is then written, but not read. */
  isReady: boolean
  /** Resolves when the build has ended, successfully or not; undefined unless it is being built. */
  building: Promise<void> | undefined
  /** Why the index being built cannot be completed. */
  failure: PetalError | undefined
  /** Bit i is set if field i of some document leads to or through an array. */
  arrays: number
  /** Whether `_id` is among the fields: no two documents then have the same key, without a look at the index. */
  readonly hasId: boolean
  readonly #keysOf: ReturnType<typeof compileDocumentKeys>
  readonly #isPresent: readonly ((document: Document) => boolean)[]

  constructor(definition: IndexDefinition, area: Area, state: { readonly isReady: boolean; readonly arrays: number }) {
    this.definition = definition
    this.area = area
    this.isReady = state.isReady
    this.arrays = state.arrays
    const paths = definition.fields.map(({ path }) => path)
    this.hasId = paths.includes('_id')
    this.#keysOf = compileDocumentKeys(paths, (path) => parallelArrays(definition, path))
    this.#isPresent = paths.map((path) => someValue({ text: path, components: path.split('.') }, 'whole', isPresent))
  }

  ordinalOf(key: Uint8Array, value: Uint8Array): number {
    return ordinalAtEnd(this.definition.unique ? value : key)
  }

  /** @throws PetalError CannotIndexParallelArrays, or BadValue for a value that no key can hold */
  entriesOf(document: Document): DocumentEntries {
    const { fields, sparse } = this.definition
    if (sparse && !this.#isPresent.some((isIn) => isIn(document))) return noEntries
    const { keys, arrays } = this.#keysOf(document)
    const entries = keys.map((values) => ({ values, key: valuesKey(fields, values) }))
    return { entries: entries.length < 2 ? entries : distinct(entries), arrays }
  }
}

function distinct(entries: readonly Entry[]): readonly Entry[] {
  const byText = new Map<string, Entry>()
  for (const entry of entries) byText.set(toText(entry.key), entry)
  return [...byText.values()]
}
