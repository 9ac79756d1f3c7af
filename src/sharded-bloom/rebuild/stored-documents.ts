/** The documents of a source as they are stored, whether it gives them so or not. */
import type { DocumentSource, StoredDocument } from '../document-index.ts'

export function storedDocuments(
  source: DocumentSource,
  from: number,
  to: number
): AsyncIterable<readonly StoredDocument[]> {
  return source.readStored?.(from, to) ?? oneByOne(source, from, to)
}

async function* oneByOne(source: DocumentSource, from: number, to: number): AsyncGenerator<readonly StoredDocument[]> {
  for await (const [ordinal, document] of source.read(from, to)) {
    yield [{ ordinal, json: undefined, document: () => document }]
  }
}
