/** Results of writes, in the shapes of MongoDB's driver. */
import type { BulkWriteCounts } from './errors.ts'

/** Result of insertOne(). */
export interface InsertOneResult {
  readonly acknowledged: true
  readonly insertedId: unknown
}

/** Result of insertMany(). */
export interface InsertManyResult {
  readonly acknowledged: true
  readonly insertedCount: number
  /** `_id` by position in the input. */
  readonly insertedIds: Readonly<Record<number, unknown>>
}

/** Result of updateOne(), updateMany() and replaceOne(). */
export interface UpdateResult {
  readonly acknowledged: true
  /** Documents that matched the filter; 0 for an upsert that inserted. */
  readonly matchedCount: number
  /** Documents the update changed: a document that already has the new values is not written. */
  readonly modifiedCount: number
  /** 1 if a document was inserted by an upsert, otherwise 0. */
  readonly upsertedCount: number
  /** `_id` of the document inserted by an upsert, otherwise null. */
  readonly upsertedId: unknown
}

/** Result of deleteOne() and deleteMany(). */
export interface DeleteResult {
  readonly acknowledged: true
  readonly deletedCount: number
}

/** Result of bulkWrite(). */
export interface BulkWriteResult extends BulkWriteCounts {
  readonly acknowledged: true
}
