/** PetalDB's public names. */
export type { BulkWriteOperation } from './docstore/bulk-write.ts'
export type {
  Collection,
  Filter,
  FindOneAndDeleteOptions,
  FindOneAndUpdateOptions,
  UpdateOptions,
  UpdateSpec
} from './docstore/collection.ts'
export type { FindCursor } from './docstore/cursor.ts'
export type { CollectionInfo, CollectionStats, Database, DatabaseStats } from './docstore/database.ts'
export { type BulkWriteCounts, BulkWriteError, type WriteError } from './docstore/errors.ts'
export type { Explanation, PlanStage } from './docstore/explain.ts'
export type { InsertManyOptions } from './docstore/insert-many.ts'
export { open } from './docstore/open.ts'
export type {
  AnyLevel,
  CountOptions,
  FindOptions,
  IndexOptions,
  OpenOptions,
  ReadOptions,
  SortSpec,
  StoreName
} from './docstore/options.ts'
export type {
  BulkWriteResult,
  DeleteResult,
  InsertManyResult,
  InsertOneResult,
  UpdateResult
} from './docstore/results.ts'
export { AbortedError, type ErrorName, errorCodes, PetalError } from './model/errors.ts'
export type { Document } from './model/types.ts'
export type { IndexStats } from './sharded-bloom/document-index.ts'
