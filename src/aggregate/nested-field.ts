/** Adds a single field, at a path, to a document. */
import { type Document, isPlainObject } from '../model/types.ts'

/**
 * Returns the document with the value at the path, which leads through objects only: anything else on the path, whether
 * an array or a scalar, is replaced by an object. By contrast, set-path.ts sets fields in every element of an array.
 */
export function withNestedField(document: Document, [key, ...rest]: readonly string[], value: unknown): Document {
  if (key === undefined) return document
  if (rest.length === 0) return { ...document, [key]: value }
  const below = document[key]
  return { ...document, [key]: withNestedField(isPlainObject(below) ? below : {}, rest, value) }
}
