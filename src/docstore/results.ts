/** Results of writes, in the shapes of MongoDB's driver. */
import type { BulkWriteCounts } from './errors.ts'

export interface InsertOneResult {
  readonly acknowledged: true
  readonly insertedId: unknown
}

export interface InsertManyResult {
  readonly acknowledged: true
  readonly insertedCount: number
  /** `_id` by position in the input. */
  readonly insertedIds: Readonly<Record<number, unknown>>
}

export interface UpdateResult {
  readonly acknowledged: true
  readonly matchedCount: number
  /** Documents the update changed: a document that already has the new values is not written. */
  readonly modifiedCount: number
  readonly upsertedCount: number
  readonly upsertedId: unknown
}

export interface DeleteResult {
  readonly acknowledged: true
  readonly deletedCount: number
}

export interface BulkWriteResult extends BulkWriteCounts {
  readonly acknowledged: true
}
