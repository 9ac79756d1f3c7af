/**
 * What the parts of an update agree on.
 */
import type { StringOrder } from '../../model/compare.ts'
import type { Document } from '../../model/types.ts'
import type { UpdatePath } from './path.ts'

/** In place of a value: there is none. */
export const absent: unique symbol = Symbol('absent')

export interface UpdateContext {
  /** The document is about to be inserted by an upsert. */
  readonly isInsert: boolean
  /** The time of the whole operation, for `$currentDate`. */
  readonly now: Date
}

/** Makes a new document, or returns the same one when nothing changes. Never changes what it is given. */
export type Update = (document: Document, context: UpdateContext) => Document

/**
 * What an operator does at one place: the value found there, or `absent`, becomes the value returned, or is removed.
 * Returning what it was given changes nothing.
 */
export type Edit = (current: unknown, context: UpdateContext) => unknown

/** An operator at one path, for messages. */
export interface UpdatePlace {
  readonly operator: string
  readonly path: string
}

/** One operator at one path. */
export type Change =
  | {
      readonly kind: 'edit'
      readonly operator: string
      readonly path: UpdatePath
      readonly edit: Edit
      /** A path that ends at a scalar is nothing to do, rather than an error. */
      readonly ignoresBlockedPath: boolean
      readonly isInsertOnly: boolean
    }
  | { readonly kind: 'rename'; readonly operator: '$rename'; readonly from: UpdatePath; readonly path: UpdatePath }

/** Compiles an operator's operand into an edit. `operand` is a copy that nobody else holds; `order` is that of strings. */
export type OperatorCompiler = (operand: unknown, place: UpdatePlace, order?: StringOrder) => Edit
