/**
 * A write request: validated options, compiled filter and compiled change.
 *
 * Invariant: everything happens before anything is awaited, so that filter and change are as the caller passed them,
 * and a malformed one fails with nothing written. Pipeline operators are loaded, and their arguments checked, when the
 * request's turn comes, before anything is read.
 */
import type { LoopGuard } from '../../aggregate/loop-guard.ts'
import { compileUpdatePipeline } from '../../aggregate/update-pipeline.ts'
import { cloneDocument } from '../../model/clone.ts'
import { PetalError } from '../../model/errors.ts'
import { type Document, isPlainObject } from '../../model/types.ts'
import { parseCollation } from '../../query/collation.ts'
import { compileReplacement, compileUpdate, type Update } from '../../query/update/update.ts'
import { documentFromFilter, identityFromFilter } from '../../query/update/upsert.ts'
import { assertBoolean, assertOptions, assertReturnDocument } from '../option-checks.ts'
import {
  type FindOneAndDeleteOptions,
  type FindOneAndUpdateOptions,
  type FindOptions,
  knownFindOneAndDelete,
  knownFindOneAndUpdate,
  knownReadOptions,
  knownUpdateOneOptions,
  knownUpdateOptions,
  type ReadOptions,
  type UpdateOneOptions,
  type UpdateOptions
} from '../options.ts'
import { Control } from '../read/control.ts'
import { expressionsOf } from '../read/expressions.ts'
import { type CompiledFind, compileFind } from '../read/find.ts'

export interface DeleteRequest {
  readonly find: CompiledFind
  /** Made when the write was called. */
  readonly control: Control
  /** Returns what the call returns, given the document before and after; undefined if the call returns no document. */
  readonly returns?: Returns
}

type Returns = (before: Document | undefined, after: Document | undefined) => Document | undefined

/** A change by operators, by a pipeline, or by a whole document. */
interface CompiledChange {
  readonly kind: 'update' | 'replace'
  readonly change: Update
  /** Must be awaited before `change` is called. */
  readonly ready?: (() => Promise<void>) | undefined
  /** Of a pipeline. */
  readonly loops?: LoopGuard
}

export interface UpdateRequest extends DeleteRequest, CompiledChange {
  /** The document to insert, after applying the change, if nothing matches. */
  readonly upsertSeed: (() => Document) | undefined
}

/** Compiles the change, after the options were checked: their errors take precedence. */
export type Compile = () => CompiledChange

/** Compiles update operators or a pipeline. @throws PetalError as compileUpdate() and compileUpdatePipeline() do */
export function compileSpec(spec: unknown, filter: unknown, options: UpdateOptions): CompiledChange {
  if (Array.isArray(spec)) return { kind: 'update', ...compileStages(spec, options) }
  const { arrayFilters, collation } = options
  const change = compileUpdate(spec, { filter, arrayFilters, order: parseCollation(collation) })
  return { kind: 'update', change }
}

function compileStages(pipeline: unknown, options: UpdateOptions) {
  assertNoArrayFilters('a pipeline', options)
  return compileUpdatePipeline(pipeline, expressionsOf(options, parseCollation(options.collation)))
}

/** @throws PetalError as compileReplacement() does, and FailedToParse for arrayFilters */
export function compileReplace(replacement: unknown, options: UpdateOptions): CompiledChange {
  assertNoArrayFilters('a replacement', options)
  return { kind: 'replace', change: compileReplacement(replacement) }
}

function assertNoArrayFilters(what: string, { arrayFilters = [] }: UpdateOptions): void {
  if (Array.isArray(arrayFilters) && arrayFilters.length === 0) return
  throw new PetalError('FailedToParse', `arrayFilters can only be used with update operators, not with ${what}`, {
    details: { option: 'arrayFilters' }
  })
}

/**
 * @param call name for error messages about options
 * @param limit of matches; 0 for no limit
 */
export function updateRequest(
  call: string,
  limit: number,
  filter: unknown,
  compile: Compile,
  options: UpdateOneOptions
): UpdateRequest {
  assertOptions(call, options, limit === 1 ? knownUpdateOneOptions : knownUpdateOptions)
  assertBoolean('upsert', options.upsert)
  const find = compileFind(required(filter), { ...options, limit })
  const compiled = compile()
  return { find, ...compiled, upsertSeed: upsertSeed(filter, compiled.kind, options), control: new Control(options) }
}

/** Like updateRequest(), but for the first match, in `sort` order if given. */
export function findOneAndUpdateRequest(
  call: string,
  filter: unknown,
  compile: Compile,
  options: FindOneAndUpdateOptions
): UpdateRequest {
  assertOptions(call, options, knownFindOneAndUpdate)
  assertBoolean('upsert', options.upsert)
  assertReturnDocument(options.returnDocument)
  const find = compileFind(required(filter), oneOf(options))
  const isAfter = options.returnDocument === 'after'
  if (isAfter) assertNotPositional(options.projection)
  const returns: Returns = (before, after) => projected(find, isAfter ? after : before)
  const compiled = compile()
  return {
    find,
    ...compiled,
    upsertSeed: upsertSeed(filter, compiled.kind, options),
    control: new Control(options),
    returns
  }
}

/** @param limit of matches; 0 for no limit */
export function deleteRequest(call: string, limit: number, filter: unknown, options: ReadOptions): DeleteRequest {
  assertOptions(call, options, knownReadOptions)
  return { find: compileFind(required(filter), { ...options, limit }), control: new Control(options) }
}

/** Like deleteRequest(), but for the first match, in `sort` order if given. */
export function findOneAndDeleteRequest(
  call: string,
  filter: unknown,
  options: FindOneAndDeleteOptions
): DeleteRequest {
  assertOptions(call, options, knownFindOneAndDelete)
  const find = compileFind(required(filter), oneOf(options))
  return { find, control: new Control(options), returns: (before) => projected(find, before) }
}

/** Writes require a filter: a variable that happens to be undefined must not change every document. */
function required(filter: unknown): unknown {
  if (filter !== undefined && filter !== null) return filter
  throw new PetalError('BadValue', `A write needs a filter, got ${filter}; use {} to match every document`)
}

function oneOf(options: FindOneAndDeleteOptions): FindOptions {
  return { ...options, limit: 1 }
}

/** Copies the document, because the stored form may contain the same value twice. */
function projected({ project }: CompiledFind, document: Document | undefined): Document | undefined {
  return document && (project ?? cloneDocument)(document)
}

/** The filter matched the document before the change, so a positional projection cannot apply to the one after. */
function assertNotPositional(projection: FindOneAndDeleteOptions['projection']): void {
  const path = positionalIn(projection ?? {})
  if (path === undefined) return
  const problem = `The positional projection '${path}' applies to the document that the filter matched: it cannot be used with returnDocument: 'after'`
  throw new PetalError('BadValue', problem, { details: { path } })
}

function positionalIn(projection: Readonly<Document>): string | undefined {
  for (const [key, value] of Object.entries(projection)) {
    if (key.endsWith('.$')) return key
    const below = isPlainObject(value) ? positionalIn(value) : undefined
    if (below !== undefined) return `${key}.${below}`
  }
  return undefined
}

/** Built immediately, while the filter is as the caller passed it; its errors only matter if nothing matches. */
function upsertSeed(
  filter: unknown,
  kind: CompiledChange['kind'],
  { upsert }: UpdateOptions
): (() => Document) | undefined {
  if (upsert !== true) return undefined
  if (hasExpression(filter)) {
    throw new PetalError(
      'BadValue',
      '$expr is not allowed in the filter of an upsert: it does not describe a document to insert',
      {
        details: { operator: '$expr' }
      }
    )
  }
  try {
    const seed = kind === 'replace' ? identityFromFilter(filter) : documentFromFilter(filter)
    return () => seed
  } catch (error) {
    return () => {
      throw error
    }
  }
}

function hasExpression(filter: unknown): boolean {
  if (Array.isArray(filter)) return filter.some(hasExpression)
  if (!isPlainObject(filter)) return false
  return Object.hasOwn(filter, '$expr') || [filter.$and, filter.$or, filter.$nor].some(hasExpression)
}
