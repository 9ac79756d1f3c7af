/**
 * The collections that a pipeline reads, all as of the same instant.
 *
 * Invariants:
 * 1. Views are captured synchronously: nothing is written between one and another.
 * 2. All are closed together, when the run ends.
 */
import type { Expressions } from '../../aggregate/expression.ts'
import type { LeadingRead } from '../../aggregate/stage.ts'
import { countByIndex } from '../indexes/read-by-index.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { FindOptions, SortSpec } from '../options.ts'
import type { Control } from '../read/control.ts'
import type { Execution } from '../read/execution.ts'
import { countMatches } from '../read/executor.ts'
import { beginFind, type CompiledFind, compileFind, findInView, matchesOf, ResultShaper } from '../read/find.ts'
import { Meter } from '../read/meter.ts'
import type { ReadView } from '../read/read-view.ts'
import { sampleMatches } from './sample-matches.ts'
import { type Documents, toSlices } from './slices.ts'
import { tallyGroups } from './tally-groups.ts'

/** Collections by name; undefined for those that do not exist. */
export type Opened = ReadonlyMap<string, OpenCollection | undefined>

/** The collection that a pipeline starts with. */
interface First {
  readonly collection: OpenCollection
  /** The stages merged into the read. */
  readonly stages: LeadingRead
  readonly find: CompiledFind
}

/** The read that a pipeline starts with. */
export interface FirstRead extends First {
  readonly execution: Execution
  /** Number of documents returned. */
  returned: number
}

export class Sources {
  readonly #first: ReadView | undefined
  readonly #foreign: ReadonlyMap<string, ReadView>
  readonly #expressions: Expressions
  /** Weak, because a `$lookup` uses a different read for every slice of documents. */
  readonly #finds = new WeakMap<LeadingRead, CompiledFind>()

  constructor(first: ReadView | undefined, foreign: ReadonlyMap<string, ReadView>, expressions: Expressions) {
    this.#foreign = foreign
    this.#first = first
    this.#expressions = expressions
  }

  /** Yields documents of another collection. */
  *find(name: string, read: LeadingRead, control: Control): Documents {
    const view = this.#foreign.get(name)
    if (view === undefined) return
    view.assertOpen()
    const find = this.#findOf(read)
    yield* readFound(findInView(view, find, control, new Meter(), read.used), find, read)
  }

  get expressions(): Expressions {
    return this.#expressions
  }

  close(): void {
    this.#first?.close()
    for (const view of this.#foreign.values()) view.close()
  }

  #findOf(read: LeadingRead): CompiledFind {
    const narrowed = read.narrowed?.()
    // Depends on the document being joined.
    if (narrowed !== undefined) return compileRead({ ...read, compiledFilter: narrowed }, {})
    let find = this.#finds.get(read)
    if (find === undefined) {
      find = compileRead(read, {})
      this.#finds.set(read, find)
    }
    return find
  }
}

/**
 * @param expressions those of the pipeline
 * @throws PetalError for invalid options
 */
export function compileRead(read: LeadingRead, options: FindOptions, expressions?: Expressions): CompiledFind {
  const { filter, compiledFilter, sort, skip, limit, projection, count } = read
  const findOptions = {
    ...options,
    // A find takes safe integers only, and no collection has more documents.
    skip: Math.min(skip, Number.MAX_SAFE_INTEGER),
    // The order does not affect the count.
    ...(sort !== undefined && count === undefined && { sort: sort as SortSpec }),
    ...(limit <= Number.MAX_SAFE_INTEGER && { limit }),
    ...(projection !== undefined && { projection })
  }
  return compileFind(filter, findOptions, { filter: compiledFilter, expressions })
}

/**
 * Captures all views, including that of the first read. REQUIRES: called without an await after the collections were
 * opened.
 */
export function captureSources(
  first: First | undefined,
  foreign: Opened,
  expressions: Expressions,
  control: Control
): { readonly sources: Sources; readonly read: FirstRead | undefined } {
  const execution = first && beginFind(first.collection, first.find, control, new Meter(), first.stages.used)
  const views = new Map<string, ReadView>()
  const sources = new Sources(execution?.view, views, expressions)
  try {
    for (const [name, collection] of foreign) if (collection !== undefined) views.set(name, collection.capture())
  } catch (error) {
    sources.close()
    throw error
  }
  return { sources, read: first && execution && { ...first, execution, returned: 0 } }
}

/**
 * Yields the documents of a read, or a random sample of them, or the single document with their count, or those with
 * its group counts.
 */
export function* readFound(execution: Execution, find: CompiledFind, read: LeadingRead): Documents {
  if (read.tally !== undefined) {
    const tally = yield* tallyGroups(execution, find, read.tally)
    yield* toSlices(tally.results(), execution.control)
    return
  }
  if (read.sample !== undefined) {
    yield* toSlices(yield* sampleMatches(execution, find, read.sample), execution.control)
    return
  }
  if (read.count === undefined) {
    yield* foundDocuments(execution, find)
    return
  }
  const { declared } = execution
  const counting = declared === undefined ? countMatches(execution) : countByIndex(execution, declared)
  for (let step = counting.next(); step.done !== true; ) {
    if (step.value instanceof Promise) {
      step = counting.next(yield step.value)
    } else {
      const count = step.value - find.skip
      if (count > 0) yield [read.count(count)]
      step = counting.next()
    }
  }
}

function* foundDocuments(execution: Execution, find: CompiledFind): Documents {
  const matches = matchesOf(execution, find)
  const shaper = new ResultShaper(find, execution.meter)
  try {
    for (let step = matches.next(); step.done !== true; ) {
      if (step.value instanceof Promise) {
        step = matches.next(yield step.value)
        continue
      }
      const documents = shaper.shape(step.value)
      if (documents.length > 0) yield documents
      if (shaper.isDone) return
      step = matches.next()
    }
  } finally {
    matches.return()
  }
}
