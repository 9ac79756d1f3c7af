/**
 * What a call asks to have changed: options checked, filter and change compiled.
 *
 * Invariant: all of it happens before anything is awaited, so that filter and change are as the caller gave them, and a
 * malformed one fails with nothing written. Operators of a pipeline are loaded, and what they are given looked at, when it is
 * the request's turn: before anything is read.
 */
import { Expressions } from '../../aggregate/expression.ts'
import { compileUpdatePipeline } from '../../aggregate/update-pipeline.ts'
import { cloneValue } from '../../model/clone.ts'
import { PetalError } from '../../model/errors.ts'
import type { Document } from '../../model/types.ts'
import { compileProjection } from '../../query/projection.ts'
import { compileReplacement, compileUpdate, type Update } from '../../query/update/update.ts'
import { documentFromFilter } from '../../query/update/upsert.ts'
import { defineVariables } from '../aggregate/options.ts'
import {
  assertBoolean,
  assertOptions,
  assertReturnDocument,
  type FindOneAndDeleteOptions,
  type FindOneAndUpdateOptions,
  type FindOptions,
  type ReadOptions,
  type UpdateOptions
} from '../options.ts'
import { type CompiledFind, compileFind } from '../read/find.ts'

export interface DeleteRequest {
  readonly find: CompiledFind
  readonly options: ReadOptions
}

/** By operators, a pipeline, or a whole document. */
interface CompiledChange {
  readonly kind: 'update' | 'replace'
  readonly change: Update
  /** Awaited before the change is asked for. */
  readonly ready?: (() => Promise<void>) | undefined
}

export interface UpdateRequest extends DeleteRequest, CompiledChange {
  /** What to insert when nothing matches: the change applied to this. */
  readonly upsertSeed: (() => Document) | undefined
}

/** Of a call that returns the document. */
interface Projected {
  readonly project: (document: Document) => Document
}

/** A change, compiled when it is its turn: what is wrong with the options comes first. */
export type Compile = () => CompiledChange

/** Operators, or a pipeline. @throws PetalError as compileUpdate() and compileUpdatePipeline() do */
export function compileSpec(spec: unknown, filter: unknown, options: UpdateOptions): CompiledChange {
  if (Array.isArray(spec)) return { kind: 'update', ...compileStages(spec, options) }
  const { arrayFilters } = options
  const change = compileUpdate(spec, arrayFilters === undefined ? { filter } : { filter, arrayFilters })
  return { kind: 'update', change }
}

function compileStages(pipeline: unknown, { arrayFilters = [], let: variables = {} }: UpdateOptions) {
  if (!Array.isArray(arrayFilters) || arrayFilters.length > 0) {
    throw new PetalError('FailedToParse', 'arrayFilters are for operators: a pipeline takes none', {
      details: { option: 'arrayFilters' }
    })
  }
  const expressions = new Expressions()
  const names = defineVariables(cloneValue(variables), expressions)
  return expressions.declaring(names, () => compileUpdatePipeline(pipeline, expressions))
}

/** @throws PetalError as compileReplacement() does */
export function compileWhole(replacement: unknown): CompiledChange {
  return { kind: 'replace', change: compileReplacement(replacement) }
}

/**
 * @param call tells errors of options
 * @param limit of matches, 0 for none
 */
export function updateRequest(
  call: string,
  limit: number,
  filter: unknown,
  compile: Compile,
  options: UpdateOptions
): UpdateRequest {
  assertOptions(call, options)
  assertBoolean('upsert', options.upsert)
  const find = compileFind(required(filter), { ...options, limit })
  return { find, ...compile(), upsertSeed: upsertSeed(filter, options), options }
}

/** As updateRequest(), of the first match, of an order if one is given. */
export function findOneAndUpdateRequest(
  call: string,
  filter: unknown,
  compile: Compile,
  options: FindOneAndUpdateOptions
): UpdateRequest & Projected {
  assertOptions(call, options)
  assertBoolean('upsert', options.upsert)
  assertReturnDocument(options.returnDocument)
  const find = compileFind(required(filter), oneOf(options))
  const project = compileProjection(options.projection)
  return { find, ...compile(), upsertSeed: upsertSeed(filter, options), options, project }
}

/** @param limit of matches, 0 for none */
export function deleteRequest(call: string, limit: number, filter: unknown, options: ReadOptions): DeleteRequest {
  assertOptions(call, options)
  return { find: compileFind(required(filter), { ...options, limit }), options }
}

/** As deleteRequest(), of the first match, of an order if one is given. */
export function findOneAndDeleteRequest(
  call: string,
  filter: unknown,
  options: FindOneAndDeleteOptions
): DeleteRequest & Projected {
  assertOptions(call, options)
  const find = compileFind(required(filter), oneOf(options))
  return { find, options, project: compileProjection(options.projection) }
}

/** A write says what it is for: a variable that happens to be undefined must not change every document. */
function required(filter: unknown): unknown {
  if (filter !== undefined && filter !== null) return filter
  throw new PetalError('BadValue', `A write needs a filter, got ${filter}; {} stands for every document`)
}

/** What is returned of a document does not concern how it is found. */
function oneOf({ sort, signal, maxTimeMS, hint }: FindOneAndDeleteOptions): FindOptions {
  return {
    limit: 1,
    ...(sort !== undefined && { sort }),
    ...(signal && { signal }),
    ...(maxTimeMS !== undefined && { maxTimeMS }),
    ...(hint && { hint })
  }
}

/** Made now, while the filter is as it was given; what is wrong with it matters only when nothing matches. */
function upsertSeed(filter: unknown, { upsert }: UpdateOptions): (() => Document) | undefined {
  if (upsert !== true) return undefined
  try {
    const seed = documentFromFilter(filter)
    return () => seed
  } catch (error) {
    return () => {
      throw error
    }
  }
}
