/** A document on its way in: what is known of it before it is put into a batch. */
import { PetalError } from '../../model/errors.ts'
import { checkId, encodeKey } from '../../model/key.ts'
import { type Document, isPlainObject } from '../../model/types.ts'
import { JsonRecord } from '../documents/json-record.ts'
import { countId, ensureId, storedForm, unreadable } from '../documents/stored-form.ts'
import type { ReversibleIds } from '../ids/reversible-ids.ts'
import { compareBytes } from '../store/layout.ts'
import type { Commit } from './commit.ts'

export interface Entry {
  /** Its own bytes are stored, unless only its document can tell what it holds. */
  readonly document: Document | JsonRecord
  /** Its `_id` when the key was made. */
  readonly id: unknown
  readonly key: Uint8Array
}

/** Where `_id`s are counted: the next one, above every one that was ever there. */
interface IdCounter {
  nextId: number | undefined
}

/**
 * Gives the document an `_id` if it has none, and checks it; does not look into the rest.
 * @param ids undefined for a table of ids
 * @returns why it is refused, where it is
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
  const key = encodeKey(id)
  if (ids !== undefined) {
    const { nextId = ids.header.from } = counter
    counter.nextId = Math.max(nextId, ids.check(id, key) + 1)
  }
  return { document, id, key }
}

/**
 * The document as it will be stored, with the `_id` that it will have: the caller's gets it, too.
 * @throws PetalError BadValue
 */
export function withId(document: Document, ids: ReversibleIds | undefined, { nextId }: IdCounter): Document {
  try {
    if (ids === undefined) ensureId(document)
    else countId(document, nextId ?? ids.header.from)
    return storedForm(document)
  } catch (cause) {
    throw unreadable(cause)
  }
}

/**
 * The document is the caller's, who may have changed it since its key was made: under that key it could never be found.
 * @throws PetalError BadValue
 */
export function assertSameId({ _id }: Document, { id, key }: Entry): void {
  const isSame = Object.is(_id, id) && (!isPlainObject(_id) || compareBytes(encodeKey(_id), key) === 0)
  if (isSame) return
  throw new PetalError('BadValue', "The document's _id was changed while it was being inserted", {
    details: { path: '_id' }
  })
}

/** Where the store cannot be read at once, what a document's unique keys have to be compared with is read before. */
export async function loadEntries({ entries }: Commit, { document }: Entry): Promise<void> {
  const written = document instanceof JsonRecord ? parsedOrNone(document) : document
  if (written !== undefined) await entries?.load([written])
}

/** JSON that holds no document is refused when it is added. */
function parsedOrNone(json: JsonRecord): Document | undefined {
  try {
    return json.parse()
  } catch (error) {
    if (error instanceof PetalError) return undefined
    throw error
  }
}
