/** PetalDB's public API, with the npm bson classes for value types that JavaScript lacks. */

export {
  Binary,
  BSONRegExp,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID
} from 'bson'
export type { AggregationCursor } from './docstore/aggregate/cursor.ts'
export type { AggregationExplanation, StageExplanation } from './docstore/aggregate/explain.ts'
export type { AggregateOptions, AggregationPipeline } from './docstore/aggregate/options.ts'
export type { Collection } from './docstore/collection.ts'
export type { CollectionIndex } from './docstore/collection-index.ts'
export type { CollectionInfo, CollectionStats, Database, DatabaseStats } from './docstore/database.ts'
export { type BulkWriteCounts, BulkWriteError, type WriteError } from './docstore/errors.ts'
export type { IdsOption, ReversibleOption } from './docstore/ids/ids-option.ts'
export type { ImportOptions } from './docstore/import/check-import.ts'
export type { ImportResult } from './docstore/import/import-run.ts'
export type { LineSource } from './docstore/import/line-source.ts'
export { BadLine } from './docstore/import/read-line.ts'
export type { DeclaredIndexStats } from './docstore/indexes/declared-indexes.ts'
export type {
  CreateIndexesOptions,
  CreateIndexOptions,
  IndexBuildProgress,
  IndexDescription,
  IndexSpec,
  IndexToCreate
} from './docstore/indexes/definition.ts'
export type { AutoRebuildStats } from './docstore/jobs/auto-rebuild.ts'
export type { BackupOptions, BackupProgress, BackupResult } from './docstore/jobs/backup.ts'
export type { CompactOptions, CompactProgress, CompactResult } from './docstore/jobs/compact.ts'
export { type CopyOptions, type CopyProgress, type CopyResult, copyDatabase } from './docstore/jobs/copy.ts'
export type { ExpiryStats } from './docstore/jobs/expiry.ts'
export type { VerifyProblem } from './docstore/jobs/findings.ts'
export type { RebuildOptions, RebuildResult } from './docstore/jobs/rebuild-job.ts'
export {
  type RepairOptions,
  type RepairProgress,
  type RepairResult,
  repairDatabase
} from './docstore/jobs/repair.ts'
export type { TuneOptions } from './docstore/jobs/tune.ts'
export type { DatabaseVerifyReport, VerifyOptions, VerifyProgress } from './docstore/jobs/verify.ts'
export { open } from './docstore/open.ts'
export type {
  AnyLevel,
  AutoRebuildOptions,
  Collation,
  CollectionOptions,
  CountOptions,
  FindOneAndDeleteOptions,
  FindOneAndUpdateOptions,
  FindOptions,
  IndexKind,
  IndexOptions,
  LsmTuning,
  NoOptions,
  OpenOptions,
  ReadOptions,
  SortDirection,
  SortSpec,
  StoreName,
  UpdateOneOptions,
  UpdateOptions
} from './docstore/options.ts'
export type { FindCursor } from './docstore/read/cursor.ts'
export type { Explanation, PlanStage } from './docstore/read/explain.ts'
export type { PathSummary } from './docstore/read/path-counts.ts'
export type { RenameOptions } from './docstore/rename-collection.ts'
export type {
  BulkWriteResult,
  DeleteResult,
  InsertManyResult,
  InsertOneResult,
  UpdateResult
} from './docstore/results.ts'
export type { Transaction, TransactionOptions } from './docstore/transaction/transaction.ts'
export type { TransactionCollection } from './docstore/transaction/transaction-collection.ts'
export type { TransactionCursor } from './docstore/transaction/transaction-cursor.ts'
export type { DistinctValue, IdOf, MayHaveId, Replacement, WithId, WithoutId } from './docstore/types/documents.ts'
export type { FieldOf } from './docstore/types/fields.ts'
export type { Condition, Filter, FilterArgument, IdArgument } from './docstore/types/filter.ts'
export type { UpdateSpec } from './docstore/types/update.ts'
export type {
  ChangeEvent,
  DeleteEvent,
  DropEvent,
  InsertEvent,
  InvalidateEvent,
  RenameEvent,
  ReplaceEvent,
  ResumeToken,
  UpdateEvent
} from './docstore/watch/change-event.ts'
export type { ChangeStream } from './docstore/watch/change-stream.ts'
export type { UpdateDescription } from './docstore/watch/update-description.ts'
export type { ChangeStreamOptions } from './docstore/watch/watch-options.ts'
export type { BulkWriteOperation, BulkWriteOptions } from './docstore/write/bulk-write.ts'
export type { InsertManyOptions } from './docstore/write/insert-many.ts'
export { AbortedError, type ErrorName, errorCodes, PetalError } from './model/errors.ts'
export type { Document } from './model/types.ts'
export type { IndexStats, RebuildProgress } from './sharded-bloom/document-index.ts'
export type { RebuildReason } from './sharded-bloom/rebuild/policy.ts'
export type { Measured as TuneMeasurement } from './sharded-bloom/tune/measure.ts'
export type { Contender as TunePrediction, Ground as TuneGround } from './sharded-bloom/tune/policy.ts'
export type { TuneProgress } from './sharded-bloom/tune/tune-index.ts'
export type { TuneChoice, TuneResult } from './sharded-bloom/tune/tune-result.ts'
