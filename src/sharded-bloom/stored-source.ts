/** Documents in stored form, read in runs, for re-indexing all of them. */
import type { Document } from '../model/types.ts'
import type { JsonForm } from './byte-scan/json-form.ts'
import type { DocumentSource } from './document-index.ts'

export interface StoredDocument {
  readonly ordinal: number
  /** bytes[start, start + length) is the document's JSON as UTF-8; undefined when only document() has the contents. */
  readonly bytes: Uint8Array | undefined
  readonly start: number
  readonly length: number
  /** How to read the JSON; default 'json'. */
  readonly form?: JsonForm
  document(): Document
}

/** Documents that follow without a pause, one after the other: each is valid until the next one is requested. */
export type StoredRun = Iterable<StoredDocument>

/** Ascending by ordinal. */
export interface StoredSource {
  read(fromOrdinal: number, toOrdinal: number): AsyncIterable<StoredRun>
}

/** Yields the documents of a source in stored form, even when the source has only objects. */
export async function* storedDocuments(source: DocumentSource, from: number, to: number): AsyncGenerator<StoredRun> {
  if (source.stored !== undefined) {
    yield* source.stored.read(from, to)
    return
  }
  for await (const [ordinal, document] of source.read(from, to)) yield [onlyObject(ordinal, () => document)]
}

export function onlyObject(ordinal: number, document: () => Document): StoredDocument {
  return { ordinal, bytes: undefined, start: 0, length: 0, document }
}
