/**
 * What a call asks to have changed: options checked, filter and change compiled.
 *
 * Invariant: all of it happens before anything is awaited, so that filter and change are as the caller gave them, and a
 * malformed one fails with nothing written. Operators of a pipeline are loaded, and what they are given looked at, when it is
 * the request's turn: before anything is read.
 */
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
  knownUpdateOptions,
  type ReadOptions,
  type UpdateOptions
} from '../options.ts'
import { expressionsOf } from '../read/expressions.ts'
import { type CompiledFind, compileFind } from '../read/find.ts'

export interface DeleteRequest {
  readonly find: CompiledFind
  readonly options: ReadOptions
  /** What the call returns of a document as it was and as it is; undefined where it returns none. */
  readonly returns?: Returns
}

type Returns = (before: Document | undefined, after: Document | undefined) => Document | undefined

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

/** A change, compiled when it is its turn: what is wrong with the options comes first. */
export type Compile = () => CompiledChange

/** Operators, or a pipeline. @throws PetalError as compileUpdate() and compileUpdatePipeline() do */
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
export function compileWhole(replacement: unknown, options: UpdateOptions): CompiledChange {
  assertNoArrayFilters('a replacement', options)
  return { kind: 'replace', change: compileReplacement(replacement) }
}

function assertNoArrayFilters(what: string, { arrayFilters = [] }: UpdateOptions): void {
  if (Array.isArray(arrayFilters) && arrayFilters.length === 0) return
  throw new PetalError('FailedToParse', `arrayFilters are for operators: ${what} takes none`, {
    details: { option: 'arrayFilters' }
  })
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
  assertOptions(call, options, knownUpdateOptions)
  assertBoolean('upsert', options.upsert)
  const find = compileFind(required(filter), { ...options, limit })
  const compiled = compile()
  return { find, ...compiled, upsertSeed: upsertSeed(filter, compiled.kind, options), options }
}

/** As updateRequest(), of the first match, of an order if one is given. */
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
  if (isAfter) refusePositional(options.projection)
  const returns: Returns = (before, after) => projected(find, isAfter ? after : before)
  const compiled = compile()
  return { find, ...compiled, upsertSeed: upsertSeed(filter, compiled.kind, options), options, returns }
}

/** @param limit of matches, 0 for none */
export function deleteRequest(call: string, limit: number, filter: unknown, options: ReadOptions): DeleteRequest {
  assertOptions(call, options, knownReadOptions)
  return { find: compileFind(required(filter), { ...options, limit }), options }
}

/** As deleteRequest(), of the first match, of an order if one is given. */
export function findOneAndDeleteRequest(
  call: string,
  filter: unknown,
  options: FindOneAndDeleteOptions
): DeleteRequest {
  assertOptions(call, options, knownFindOneAndDelete)
  const find = compileFind(required(filter), oneOf(options))
  return { find, options, returns: (before) => projected(find, before) }
}

/** A write says what it is for: a variable that happens to be undefined must not change every document. */
function required(filter: unknown): unknown {
  if (filter !== undefined && filter !== null) return filter
  throw new PetalError('BadValue', `A write needs a filter, got ${filter}; {} stands for every document`)
}

function oneOf(options: FindOneAndDeleteOptions): FindOptions {
  return { ...options, limit: 1 }
}

/** A copy: what is written may have one value in two places. */
function projected({ project }: CompiledFind, document: Document | undefined): Document | undefined {
  return document && (project ?? cloneDocument)(document)
}

/** The filter matched the document as it was before. */
function refusePositional(projection: FindOneAndDeleteOptions['projection']): void {
  const path = positionalIn(projection ?? {})
  if (path === undefined) return
  const problem = `The positional projection '${path}' is of the document that the filter matched: it cannot be returned 'after'`
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

/** Made now, while the filter is as it was given; what is wrong with it matters only when nothing matches. */
function upsertSeed(
  filter: unknown,
  kind: CompiledChange['kind'],
  { upsert }: UpdateOptions
): (() => Document) | undefined {
  if (upsert !== true) return undefined
  if (hasExpression(filter)) {
    throw new PetalError(
      'BadValue',
      '$expr says nothing of a document that is to be inserted: it cannot be with upsert',
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
