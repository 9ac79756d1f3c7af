/** Documents in stored form, read in runs, for re-indexing all of them. */
import type { Document } from '../model/types.ts'
import type { JsonForm } from './byte-scan/json-form.ts'
import type { DocumentSource } from './document-index.ts'

/** A run of documents, concatenated. Valid until the next run is requested. */
export interface StoredRun {
  /** Number of documents: the first entries of the arrays below. */
  readonly count: number
  readonly ordinals: Float64Array
  /** Offset in `bytes` where each record ends; each begins where the one before ends, the first at 0. */
  readonly ends: Uint32Array
  readonly bytes: Uint8Array
}

export interface StoredDocument {
  readonly ordinal: number
  /** The document's JSON as UTF-8; undefined when only document() can provide the contents. */
  readonly json: Uint8Array | undefined
  /** How to read the JSON; default 'json'. */
  readonly form?: JsonForm
  document(): Document
}

/** Ascending by ordinal. */
export interface StoredSource {
  read(fromOrdinal: number, toOrdinal: number): AsyncIterable<StoredRun>
  /** Interprets one record of a run; the result is valid as long as the run. */
  document(ordinal: number, record: Uint8Array): StoredDocument
}

/** Splits a run into documents, which its source interprets. */
export function documentsOf(run: StoredRun, source: Pick<StoredSource, 'document'>): StoredDocument[] {
  const { count, ordinals, ends, bytes } = run
  const documents: StoredDocument[] = []
  for (let i = 0, start = 0; i < count; i++) {
    const end = ends[i]!
    documents.push(source.document(ordinals[i]!, bytes.subarray(start, end)))
    start = end
  }
  return documents
}

/** Yields the documents of a source in stored form, even when the source cannot provide runs. */
export async function* storedDocuments(
  source: DocumentSource,
  from: number,
  to: number
): AsyncGenerator<readonly StoredDocument[]> {
  const { stored } = source
  if (stored === undefined) {
    for await (const [ordinal, document] of source.read(from, to)) {
      yield [{ ordinal, json: undefined, document: () => document }]
    }
    return
  }
  for await (const run of stored.read(from, to)) yield documentsOf(run, stored)
}
