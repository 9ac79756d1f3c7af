/** Results of writes, in the shapes of MongoDB's driver. An `_id` is unknown where the document type declares none. */
import type { BulkWriteCounts } from './errors.ts'
import type { IdOf } from './types/documents.ts'
import type { Updated } from './write/mutate.ts'

/** Result of insertOne(). */
export interface InsertOneResult<T extends object = object> {
  readonly acknowledged: true
  readonly insertedId: IdOf<T>
}

/** Result of insertMany(). */
export interface InsertManyResult<T extends object = object> {
  readonly acknowledged: true
  readonly insertedCount: number
  /** `_id` by position in the input; of more than some thousand, put together when first read. */
  readonly insertedIds: Readonly<Record<number, IdOf<T>>>
}

/** Result of updateOne(), updateMany() and replaceOne(). */
export interface UpdateResult<T extends object = object> {
  readonly acknowledged: true
  /** Documents that matched the filter; 0 for an upsert that inserted. */
  readonly matchedCount: number
  /** Documents the update changed: a document that already has the new values is not written. */
  readonly modifiedCount: number
  /** 1 if a document was inserted by an upsert, otherwise 0. */
  readonly upsertedCount: number
  /** `_id` of the document inserted by an upsert, otherwise null. */
  readonly upsertedId: IdOf<T> | null
}

export function updateResult<T extends object>(updated: Updated): UpdateResult<T> {
  return {
    acknowledged: true,
    matchedCount: updated.matched,
    modifiedCount: updated.modified,
    upsertedCount: updated.hasUpserted ? 1 : 0,
    upsertedId: updated.upsertedId as IdOf<T> | null
  }
}

/** Result of deleteOne() and deleteMany(). */
export interface DeleteResult {
  readonly acknowledged: true
  readonly deletedCount: number
}

/** Result of bulkWrite(). */
export interface BulkWriteResult<T extends object = object> extends BulkWriteCounts<T> {
  readonly acknowledged: true
}
