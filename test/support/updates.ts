/** Applies one update to one document. */
import { Decimal128, ObjectId, Timestamp } from 'bson'
import type { Document } from '../../src/model/types.ts'
import { compileUpdate, type UpdateOptions } from '../../src/query/update/update.ts'

/** The time of every update. */
export const now = new Date(1_700_000_000_123)

export function apply(
  document: Document,
  update: unknown,
  options: UpdateOptions & { readonly isInsert?: boolean } = {}
): Document {
  return compileUpdate(update, options)(document, { isInsert: options.isInsert === true, now })
}

/** Makes any change to the value, at any depth, throw. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  if (value instanceof Decimal128 || value instanceof ObjectId || value instanceof Timestamp) return value
  for (const field of Object.values(value)) deepFreeze(field)
  return Object.freeze(value)
}
