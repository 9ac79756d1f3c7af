/** What writes return: the shapes of MongoDB's driver. */

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
  /** Documents that the update changed: one that already is as the update wants it is not written. */
  readonly modifiedCount: number
  readonly upsertedCount: number
  readonly upsertedId: unknown
}

export interface DeleteResult {
  readonly acknowledged: true
  readonly deletedCount: number
}

export interface BulkWriteResult {
  readonly acknowledged: true
  readonly insertedCount: number
  readonly matchedCount: number
  readonly modifiedCount: number
  readonly deletedCount: number
  readonly upsertedCount: number
  readonly insertedIds: Readonly<Record<number, unknown>>
  readonly upsertedIds: Readonly<Record<number, unknown>>
}
