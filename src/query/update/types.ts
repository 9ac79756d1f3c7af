/** Types shared by the parts of an update. */
import type { StringOrder } from '../../model/compare.ts'
import type { Document } from '../../model/types.ts'
import type { UpdatePath } from './path.ts'

/** Represents a missing value. */
export const absent: unique symbol = Symbol('absent')

/** Operands up to this number are compared with each element of an array; of more, a set is made. */
export const comparedOneByOne = 8

export interface UpdateContext {
  /** The document is about to be inserted by an upsert. */
  readonly isInsert: boolean
  /** The time of the whole operation, for `$currentDate`. */
  readonly now: Date
}

/** Returns a new document, or the same one when nothing changes. Never changes its argument. */
export type Update = (document: Document, context: UpdateContext) => Document

/**
 * An operator's effect at one place: maps the current value, or `absent`, to the new value, or to `absent` to remove
 * it. Returning the argument changes nothing.
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
      /** Do nothing, rather than fail, for a path that ends at a scalar. */
      readonly ignoresBlockedPath: boolean
      readonly isInsertOnly: boolean
    }
  | { readonly kind: 'rename'; readonly operator: '$rename'; readonly from: UpdatePath; readonly path: UpdatePath }

/** Compiles an operator's operand to an edit. `operand` is a private copy; `order` is that of strings. */
export type OperatorCompiler = (operand: unknown, place: UpdatePlace, order?: StringOrder) => Edit
