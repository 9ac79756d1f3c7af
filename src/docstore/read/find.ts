/** Runs a find: plans it, captures its view, and returns documents in slices. */
import type { Expressions } from '../../aggregate/expression.ts'
import type { StringOrder } from '../../model/compare.ts'
import { all } from '../../model/pairs.ts'
import type { Document } from '../../model/types.ts'
import { parseCollation } from '../../query/collation.ts'
import { noConstraints } from '../../query/constraints.ts'
import type { CompiledFilter } from '../../query/filter.ts'
import { pathsOfProjection } from '../../query/filter-paths.ts'
import { type CompiledSort, compileSort, noSort } from '../../query/sort.ts'
import { fromStore } from '../errors.ts'
import { declaredRead } from '../indexes/plan-read.ts'
import { type IndexRead, matchesByIndex } from '../indexes/read-by-index.ts'
import type { OpenCollection } from '../open-collection.ts'
import { wholeNumber } from '../option-checks.ts'
import type { FindOptions } from '../options.ts'
import type { Match } from './confirmer.ts'
import { Control } from './control.ts'
import type { Execution } from './execution.ts'
import { findMatches } from './executor.ts'
import { FindExpressions } from './expressions.ts'
import { FieldsRead, type PathsUsed } from './fields-read.ts'
import type { FindSource } from './find-source.ts'
import { parseHint } from './hint.ts'
import { Meter } from './meter.ts'
import type { Deciding } from './parallel/portable-read.ts'
import { type Plan, plan } from './planner.ts'
import type { ReadView } from './read-view.ts'
import type { Readable } from './sliced-cursor.ts'
import { sortedMatches } from './sorted.ts'
import { advance, end, type Steps, wait } from './steps.ts'

/** A validated and compiled find. */
export interface CompiledFind extends Deciding {
  readonly sort: CompiledSort
  readonly project: ((document: Document) => Document) | undefined
  /** The paths of matches that the projection looks at. */
  readonly used: PathsUsed
  readonly skip: number
  /** Infinity for no limit. */
  readonly limit: number
  readonly plan: Plan
  /** String order of the collation; undefined for code point order. */
  readonly order: StringOrder | undefined
  /** `'scan'`, `'index'`, or a declared index by name or key pattern. */
  readonly hint: unknown
  /** Must be awaited before the filter or projection is evaluated; undefined if there is nothing to load. */
  readonly prepare: (() => Promise<void>) | undefined
}

const matchesAll: CompiledFilter = {
  matches: () => true,
  prefilter: undefined,
  bounds: all,
  ids: undefined,
  namesId: false,
  hasCallback: false,
  paths: () => new Set(),
  constraints: () => noConstraints,
  unbounded: [],
  source: {}
}

/**
 * @param known the filter, if already compiled, and its expressions
 * @throws PetalError for an invalid filter or option
 */
export function compileFind(
  filter: unknown,
  options: FindOptions,
  known?: { readonly filter: CompiledFilter | undefined; readonly expressions?: Expressions | undefined }
): CompiledFind {
  const hint = parseHint(options.hint)
  const order = parseCollation(options.collation)
  const expressions = new FindExpressions(options, order)
  const compiled = known?.filter ?? (filter === undefined || filter === null ? matchesAll : expressions.filter(filter))
  const sort = options.sort === undefined ? noSort : compileSort(options.sort, order)
  // In MongoDB's wire protocol, a negative limit means a single batch; here only the number of documents matters.
  const limit = typeof options.limit === 'number' ? Math.abs(options.limit) : options.limit
  const project = expressions.projection(options.projection, filter)
  return {
    filter: compiled,
    sort,
    project,
    used: pathsOfProjection(options.projection),
    skip: wholeNumber('skip', options.skip, 0),
    limit: wholeNumber('limit', limit, 0) || Number.POSITIVE_INFINITY,
    plan: plan({
      bounds: compiled.bounds,
      ids: compiled.ids,
      natural: sort.natural ?? (sort.keys.length === 0 ? hint.natural : undefined),
      hint: hint.value === 'scan' || hint.value === 'index' ? hint.value : undefined
    }),
    hint: hint.value,
    order,
    collation: options.collation && { ...options.collation },
    expressions: known === undefined ? expressions.expressions : known.expressions,
    prepare: expressions.prepare
  }
}

/** Compiles a find immediately, before the caller can change its arguments, and opens the collection if necessary. */
export async function compileAndOpen(
  readable: Readable,
  compile: () => CompiledFind
): Promise<readonly [find: CompiledFind, collection: OpenCollection | undefined]> {
  const opening = readable()
  if (!(opening instanceof Promise)) return [compile(), opening]
  const compiling = new Promise<CompiledFind>((resolve) => resolve(compile()))
  return Promise.all([compiling, opening])
}

/** For a collection that does not exist: reports errors in expressions all the same. */
export async function resultWithoutCollection<T>(find: CompiledFind, result: T): Promise<T> {
  if (find.prepare !== undefined) await find.prepare()
  return result
}

/** Starts the execution of a find over a view captured now. Without `used`, matches are whole documents. */
export function beginFind(
  source: FindSource,
  find: CompiledFind,
  control: Control,
  meter: Meter,
  used?: PathsUsed
): Execution {
  // May throw, so call it before capturing the view.
  const declared = declaredRead(source, find)
  return executionOver(source.capture(), declared, find, control, meter, used)
}

/** Like beginFind(), for matches that are about to be replaced or deleted: what is read of them is not cached. */
export function beginReplacing(source: FindSource, find: CompiledFind, control: Control): Execution {
  const declared = declaredRead(source, find)
  return executionOver(source.capture(false), declared, find, control, new Meter(), undefined)
}

/** Runs a read that returns a single result rather than documents, from capturing its view to closing it. */
export async function readToEnd<T>(
  source: FindSource,
  find: CompiledFind,
  control: Control,
  read: (execution: Execution) => Steps<T>,
  used?: PathsUsed
): Promise<T | undefined> {
  const execution = beginFind(source, find, control, new Meter(), used)
  try {
    if (find.prepare !== undefined) await find.prepare()
    const result = await advance(read(execution))
    source.autoRebuild?.noteRead(find, execution.meter)
    return result
  } catch (error) {
    throw fromStore(error)
  } finally {
    execution.view.close()
  }
}

/** Starts the execution of a find over a view captured earlier; without declared indexes, which may be newer. */
export function findInView(
  view: ReadView,
  find: CompiledFind,
  control: Control,
  meter: Meter,
  used: PathsUsed
): Execution {
  // Its expressions may use variables of the documents that are joined.
  return { ...executionOver(view, undefined, find, control, meter, used), parallel: undefined }
}

function executionOver(
  view: ReadView,
  declared: IndexRead | undefined,
  find: CompiledFind,
  control: Control,
  meter: Meter,
  used: PathsUsed
): Execution {
  find.expressions?.loops.obey(control)
  const isSorted = find.sort.keys.length > 0
  const maxMatches = isSorted ? Number.POSITIVE_INFINITY : find.skip + find.limit
  const fields = new FieldsRead(find.filter, find.sort, used)
  const { plan, filter, skip: unwanted } = find
  const parallel = view.scanThreads === 0 ? undefined : { deciding: find, first: undefined, collected: undefined }
  return { view, plan, declared, filter, control, meter, maxMatches, unwanted, fields, parallel }
}

/** Yields matches in the requested order, before skip and limit, except for those the meter counts as passed over. */
export function matchesOf(execution: Execution, find: CompiledFind): Steps<Match[]> {
  return find.prepare === undefined ? preparedMatches(execution, find) : matchesOnceReady(execution, find, find.prepare)
}

function* matchesOnceReady(execution: Execution, find: CompiledFind, prepare: () => Promise<void>): Steps<Match[]> {
  yield* wait(prepare())
  yield* preparedMatches(execution, find)
}

function preparedMatches(execution: Execution, find: CompiledFind): Steps<Match[]> {
  const { declared } = execution
  if (declared !== undefined) return matchesByIndex(execution, declared, find)
  if (find.sort.keys.length === 0) return findMatches(execution)
  const wanted = find.skip + find.limit
  return sortedMatches(execution, { sort: find.sort, wanted, skipped: find.skip }, find.hint !== 'scan')
}

/** Applies skip, limit and projection to slices of matches. */
export class ResultShaper {
  readonly #project: CompiledFind['project']
  readonly #meter: Meter
  #toSkip: number
  #remaining: number

  /** @param meter of the execution that produces the matches */
  constructor({ project, skip, limit }: CompiledFind, meter: Meter) {
    this.#project = project
    this.#meter = meter
    this.#toSkip = skip
    this.#remaining = limit
  }

  /** True when no more documents are wanted. */
  get isDone(): boolean {
    return this.#remaining === 0
  }

  shape(slice: readonly Match[]): Document[] {
    // Matches that were passed over all come before the first wanted one.
    const from = Math.min(Math.max(0, this.#toSkip - this.#meter.passed), slice.length)
    const to = Math.min(from + this.#remaining, slice.length)
    this.#toSkip -= from
    this.#remaining -= to - from
    const project = this.#project
    const documents: Document[] = []
    for (let i = from; i < to; i++) {
      const { document } = slice[i]!
      documents.push(project === undefined ? document : project(document))
    }
    return documents
  }
}

export class FindRun {
  readonly #collection: OpenCollection
  readonly #find: CompiledFind
  readonly #execution: Execution
  readonly #matches: Steps<Match[]>
  readonly #shaper: ResultShaper
  #isOver = false

  /** Captures the view synchronously: the run sees what is committed now. */
  constructor(collection: OpenCollection, find: CompiledFind, options: FindOptions) {
    this.#collection = collection
    this.#find = find
    this.#execution = beginFind(collection, find, new Control(options), new Meter(), find.used)
    this.#matches = matchesOf(this.#execution, find)
    this.#shaper = new ResultShaper(find, this.#execution.meter)
  }

  /** True when no more documents will come. */
  get isOver(): boolean {
    return this.#isOver
  }

  get views(): { close(): void } {
    return this.#execution.view
  }

  /** Returns the next documents, at least one; undefined at the end. A promise only if the run had to wait. */
  next(): Document[] | undefined | Promise<Document[] | undefined> {
    if (this.#isOver) return undefined
    try {
      this.#execution.view.assertOpen()
      this.#execution.control.check()
      for (;;) {
        const slice = advance(this.#matches)
        if (slice instanceof Promise) return this.#nextLater(slice)
        const documents = this.#shape(slice)
        if (documents === undefined || documents.length > 0) return documents
      }
    } catch (error) {
      // As below: a function in the filter closed the cursor.
      if (this.#isOver) return undefined
      throw this.#fail(error)
    }
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    end(this.#matches)
    this.#execution.view.close()
  }

  async #nextLater(first: Promise<Match[] | undefined>): Promise<Document[] | undefined> {
    try {
      for (
        let waiting: Match[] | undefined | Promise<Match[] | undefined> = first;
        ;
        waiting = advance(this.#matches)
      ) {
        const documents = this.#shape(await waiting)
        if (documents === undefined || documents.length > 0) return documents
      }
    } catch (error) {
      // Closed by its own reader while waiting: the error is of no interest.
      if (this.#isOver) return undefined
      throw this.#fail(error)
    }
  }

  #shape(slice: Match[] | undefined): Document[] | undefined {
    if (slice === undefined || this.#isOver) {
      if (!this.#isOver) this.#collection.autoRebuild?.noteRead(this.#find, this.#execution.meter)
      this.close()
      return undefined
    }
    const documents = this.#shaper.shape(slice)
    // Free resources with the last document rather than at the next pull.
    if (this.#shaper.isDone) this.close()
    return documents
  }

  #fail(error: unknown): unknown {
    this.close()
    return fromStore(error)
  }
}
