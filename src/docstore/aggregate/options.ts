/** Options of an aggregation. */
import { compilePipeline } from '../../aggregate/compile.ts'
import { withStage } from '../../aggregate/errors.ts'
import type { Expressions } from '../../aggregate/expression.ts'
import type { Pipeline } from '../../aggregate/stage.ts'
import { parseCollation } from '../../query/collation.ts'
import type { Known } from '../known-options.ts'
import { assertOptions } from '../option-checks.ts'
import { knownReadOptions, type ReadOptions } from '../options.ts'
import { expressionsOf } from '../read/expressions.ts'
import { checkNewCollectionName } from '../store/collection-name.ts'
import type { AnyFields } from '../types/fields.ts'

/** Stages of an aggregation pipeline in MongoDB's language; docs/aggregation.md lists them. */
export type AggregationPipeline = readonly AnyFields[]

/**
 * `signal`, `maxTimeMS`, `hint` and `let` are those of find(); options that only matter to a server are accepted and
 * ignored.
 */
export interface AggregateOptions extends ReadOptions {
  /** Ignored: blocking stages work in memory, each within 100 MiB. */
  readonly allowDiskUse?: boolean | undefined
  /** Ignored. */
  readonly batchSize?: number | undefined
  /** Ignored. */
  readonly comment?: unknown
}

const knownAggregateOptions = {
  ...knownReadOptions,
  allowDiskUse: true,
  batchSize: true,
  comment: true
} satisfies Known<AggregateOptions>

export interface CompiledAggregation {
  readonly pipeline: Pipeline
  readonly expressions: Expressions
}

/** @throws PetalError for an invalid pipeline, naming the stage, or for invalid options */
export function compileAggregation(pipeline: unknown, options: AggregateOptions): CompiledAggregation {
  assertOptions('aggregate', options, knownAggregateOptions)
  const expressions = expressionsOf(options, parseCollation(options.collation))
  const compiled = compilePipeline(pipeline, expressions)
  const { write } = compiled
  if (write !== undefined) withStage(write.place, () => checkNewCollectionName(write.collection))
  return { pipeline: compiled, expressions }
}
