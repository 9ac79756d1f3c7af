/**
 * Documents as they are stored, in runs: for those who index all of them again.
 */
import type { Document } from '../model/types.ts'
import type { JsonForm } from './byte-scan/json-form.ts'
import type { DocumentSource } from './document-index.ts'

/** Some documents, one behind the other. Valid until the next run is asked for. */
export interface StoredRun {
  /** How many documents: the first entries of the arrays below. */
  readonly count: number
  readonly ordinals: Float64Array
  /** Where each record ends in `bytes`; it begins where the one before ends, the first at 0. */
  readonly ends: Uint32Array
  readonly bytes: Uint8Array
}

export interface StoredDocument {
  readonly ordinal: number
  /** The document's JSON as UTF-8; undefined when only the document itself tells what it holds. */
  readonly json: Uint8Array | undefined
  /** How the JSON has to be read; 'json' unless told otherwise. */
  readonly form?: JsonForm
  document(): Document
}

/** Ascending by ordinal. */
export interface StoredSource {
  read(fromOrdinal: number, toOrdinal: number): AsyncIterable<StoredRun>
  /** What a record of a run holds; it is valid as long as the run. */
  document(ordinal: number, record: Uint8Array): StoredDocument
}

/** The documents of a run, by what their source makes of a record. */
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

/** The documents of a source as they are stored, whether it gives them so or not. */
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
