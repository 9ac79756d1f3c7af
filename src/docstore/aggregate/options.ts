/** What may be chosen of one aggregation. */
import { compilePipeline } from '../../aggregate/compile.ts'
import { told } from '../../aggregate/errors.ts'
import { Expressions } from '../../aggregate/expression.ts'
import type { Pipeline } from '../../aggregate/stage.ts'
import { PetalError } from '../../model/errors.ts'
import { isPlainObject } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import { assertOptions, type ReadOptions } from '../options.ts'
import { checkCollectionName } from '../store/catalog.ts'

/** Stages of an aggregation pipeline in MongoDB's language; docs/aggregation.md lists them. */
export type AggregationPipeline = readonly Readonly<Record<string, unknown>>[]

/** `signal`, `maxTimeMS` and `hint` as of a find; what only matters to a server is accepted and ignored. */
export interface AggregateOptions extends ReadOptions {
  /** Values that expressions know as `$$name`. */
  readonly let?: Readonly<Record<string, unknown>>
  /** Ignored: stages that collect are held in memory, 100 MiB each. */
  readonly allowDiskUse?: boolean
  /** Ignored. */
  readonly batchSize?: number
  /** Ignored. */
  readonly comment?: unknown
}

export interface CompiledAggregation {
  readonly pipeline: Pipeline
  readonly expressions: Expressions
}

/** @throws PetalError for what is malformed in the pipeline, with its stage, or in the options */
export function compileAggregation(pipeline: unknown, options: AggregateOptions): CompiledAggregation {
  assertOptions('aggregate', options)
  if ((options as { readonly collation?: unknown }).collation !== undefined) {
    throw new PetalError('CommandNotSupported', 'collation is not supported', { details: { option: 'collation' } })
  }
  const expressions = new Expressions()
  const names = defineVariables(options.let ?? {}, expressions)
  const compiled = expressions.declaring(names, () => compilePipeline(pipeline, expressions))
  const { write } = compiled
  if (write !== undefined) told(write.place, () => checkCollectionName(write.collection))
  return { pipeline: compiled, expressions }
}

function defineVariables(variables: unknown, expressions: Expressions): readonly string[] {
  if (!isPlainObject(variables)) {
    throw new PetalError('BadValue', `let takes an object, not ${describeType(variables)}`, {
      details: { option: 'let' }
    })
  }
  Object.assign(expressions.variables, variables)
  return Object.keys(variables)
}
