/** A document about to be inserted: what is known about it before it is added to a batch. */
import { PetalError } from '../../model/errors.ts'
import { checkId, encodeKey, encodeKeyAt } from '../../model/key.ts'
import { type Document, isPlainObject } from '../../model/types.ts'
import { JsonRecord } from '../documents/json-record.ts'
import { assignId, ensureId, storedForm, unreadable } from '../documents/stored-form.ts'
import type { ReversibleIds } from '../ids/reversible-ids.ts'
import { compareBytes } from '../store/layout.ts'
import type { Commit } from './commit.ts'

export interface Entry {
  /** A JsonRecord is stored as its own bytes, unless only the parsed document can be indexed. */
  readonly document: Document | JsonRecord
  /** The `_id` when the key was encoded. */
  readonly id: unknown
  readonly key: Uint8Array
}

/** Counter for auto-incremented `_id`s: greater than every `_id` ever used. */
interface IdCounter {
  nextId: number | undefined
}

/**
 * Generates a missing `_id` and checks it; the rest of the document is not examined.
 * @param ids undefined for a table of ids
 * @returns the entry, or why the document is rejected
 */
export function prepareEntry(
  document: Document | JsonRecord,
  ids: ReversibleIds | undefined,
  counter: IdCounter
): Entry | PetalError {
  try {
    if (document instanceof JsonRecord) return entryOf(document, document.id, ids, counter)
    const stored = withId(document, ids, counter)
    const { _id } = stored
    checkId(_id)
    return entryOf(stored, _id, ids, counter)
  } catch (error) {
    if (error instanceof PetalError) return error
    throw error
  }
}

function entryOf(document: Entry['document'], id: unknown, ids: ReversibleIds | undefined, counter: IdCounter): Entry {
  const key = encodeKeyAt('_id', id)
  if (ids !== undefined) {
    const { nextId = ids.header.from } = counter
    counter.nextId = Math.max(nextId, ids.check(id, key) + 1)
  }
  return { document, id, key }
}

/**
 * Returns the document as it will be stored, with its `_id`, which the caller's document also receives.
 * @throws PetalError BadValue
 */
export function withId(document: Document, ids: ReversibleIds | undefined, { nextId }: IdCounter): Document {
  try {
    if (ids === undefined) ensureId(document)
    else assignId(document, nextId ?? ids.header.from)
    return storedForm(document)
  } catch (cause) {
    throw unreadable(cause)
  }
}

/**
 * The caller owns the document and may have changed it since its key was encoded: under that key it could never be
 * found.
 * @throws PetalError BadValue
 */
export function assertSameId({ _id }: Document, { id, key }: Entry): void {
  const isSame = Object.is(_id, id) && (!isPlainObject(_id) || compareBytes(encodeKey(_id), key) === 0)
  if (isSame) return
  throw new PetalError('BadValue', "The document's _id was changed while it was being inserted", {
    details: { path: '_id' }
  })
}

/** Preloads what the document's unique keys have to be compared with, for stores that cannot be read synchronously. */
export async function loadEntries({ entries }: Commit, { document }: Entry): Promise<void> {
  const written = document instanceof JsonRecord ? tryParse(document) : document
  if (written !== undefined) await entries?.load([written])
}

/** Invalid JSON is rejected later, when it is added. */
function tryParse(json: JsonRecord): Document | undefined {
  try {
    return json.parse()
  } catch (error) {
    if (error instanceof PetalError) return undefined
    throw error
  }
}
