/** The one field, at a path, that a stage puts beside those of a document. */
import { type Document, isPlainObject } from '../model/types.ts'

/**
 * The document with the value at the path, which leads through objects only: whatever else is on the way, an array as well as a
 * scalar, gives way to one. Elsewhere fields are put into every element of an array: see set-path.ts.
 */
export function withNestedField(document: Document, [key, ...rest]: readonly string[], value: unknown): Document {
  if (key === undefined) return document
  if (rest.length === 0) return { ...document, [key]: value }
  const below = document[key]
  return { ...document, [key]: withNestedField(isPlainObject(below) ? below : {}, rest, value) }
}
