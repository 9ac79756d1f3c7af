/** A run of a pipeline: captures the state it reads, loads operators if necessary, and returns documents in slices. */
import { DividedStages } from '../../aggregate/divide.ts'
import type { Expressions } from '../../aggregate/expression.ts'
import { foreignCollections, type PartialCollector, type Pipeline, type Stage } from '../../aggregate/stage.ts'
import type { Document } from '../../model/types.ts'
import { fromStore } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import { Control } from '../read/control.ts'
import { collectTask } from '../read/parallel/portable-read.ts'
import type { CursorRun } from '../read/sliced-cursor.ts'
import { advance, end, wait } from '../read/steps.ts'
import { copyDocuments } from './copies.ts'
import type { AggregateOptions, CompiledAggregation } from './options.ts'
import { runStages } from './run-stages.ts'
import { type Documents, noDocuments, transform } from './slices.ts'
import { captureSources, compileRead, type FirstRead, type Opened, readFound, type Sources } from './sources.ts'
import type { StageContext } from './stage-context.ts'

/** Returns the collection to read; undefined while it does not exist. */
export type ReadableByName = (name: string) => OpenCollection | undefined | Promise<OpenCollection | undefined>

export type Tally = NonNullable<StageContext['tally']>

/** Begins a run, synchronously if all collections are open. */
export function beginAggregation(
  name: string,
  readable: ReadableByName,
  aggregation: CompiledAggregation,
  options: AggregateOptions,
  tally?: Tally
): AggregationRun | Promise<AggregationRun> {
  const { pipeline } = aggregation
  const foreign = foreignCollections(pipeline)
  const collections = [pipeline.read && readable(name), ...foreign.map(readable)]
  if (collections.some((collection) => collection instanceof Promise)) {
    // Looked up again, because one that was open may have been dropped while another was being opened.
    const again = (): ReturnType<typeof beginAggregation> =>
      beginAggregation(name, readable, aggregation, options, tally)
    return Promise.all(collections).then(again)
  }
  const [first, ...others] = collections as readonly (OpenCollection | undefined)[]
  const opened = new Map(foreign.map((each, i) => [each, others[i]]))
  return new AggregationRun(first, opened, aggregation, options, tally)
}

export class AggregationRun implements CursorRun {
  readonly control: Control
  /** undefined if there is no such collection. */
  readonly read: FirstRead | undefined
  readonly views: Sources
  readonly #documents: Documents
  #isOver = false

  /** Captures all views synchronously: the run sees what is committed now. */
  constructor(
    collection: OpenCollection | undefined,
    foreign: Opened,
    { pipeline, expressions }: CompiledAggregation,
    options: AggregateOptions,
    tally?: Tally
  ) {
    this.control = new Control(options)
    expressions.loops.obey(this.control)
    const { signal, maxTimeMS, hint, collation } = options
    const leading = pipeline.read && {
      stages: pipeline.read,
      find: compileRead(
        pipeline.read,
        {
          ...(signal && { signal }),
          ...(maxTimeMS !== undefined && { maxTimeMS }),
          ...(hint !== undefined && { hint }),
          ...(collation !== undefined && { collation })
        },
        expressions
      )
    }
    const first = collection && leading && { collection, ...leading }
    const { sources, read: captured } = captureSources(first, foreign, expressions, this.control)
    // To explain a pipeline, what every stage yields is counted.
    const { read, stages } =
      tally === undefined ? divided(pipeline, captured) : { read: captured, stages: pipeline.stages }
    this.views = sources
    this.read = read
    const context: StageContext = { control: this.control, sources, run: runStages, ...(tally && { tally }) }
    this.#documents = documentsOf(stages, expressions, read, context)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  next(): readonly Document[] | undefined | Promise<readonly Document[] | undefined> {
    if (this.#isOver) return undefined
    try {
      this.read?.execution.view.assertOpen()
      this.control.check()
      const slice = advance(this.#documents)
      return slice instanceof Promise ? this.#nextLater(slice) : this.#note(slice)
    } catch (error) {
      return this.#fail(error)
    }
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    end(this.#documents)
    this.views.close()
  }

  async #nextLater(slice: Promise<readonly Document[] | undefined>): Promise<readonly Document[] | undefined> {
    try {
      return this.#note(await slice)
    } catch (error) {
      return this.#fail(error)
    }
  }

  #note(slice: readonly Document[] | undefined): readonly Document[] | undefined {
    if (this.#isOver) return undefined
    if (slice !== undefined) return slice
    if (this.read !== undefined) {
      const { collection, find, execution } = this.read
      collection.autoRebuild?.noteRead(find, execution.meter)
    }
    this.close()
    return undefined
  }

  /** If the run was closed by its own reader while waiting, the error is of no interest. */
  #fail(error: unknown): undefined {
    if (this.#isOver) return undefined
    this.close()
    throw fromStore(error)
  }
}

/** Each part has groups of its own. */
const maxGroups = 1 / 16

/** Lets threads that help the read take their parts of it through the first stages, if these can be divided. */
function divided(
  { divisible, stages }: Pipeline,
  read: FirstRead | undefined
): { readonly read: FirstRead | undefined; readonly stages: readonly Stage[] } {
  const stage = divisible && stages[divisible.collector]
  if (divisible === undefined || stage?.kind !== 'collect' || read?.execution.parallel === undefined)
    return { read, stages }
  const collector = stage.begin() as PartialCollector
  const until = stages.slice(0, divisible.collector + 1)
  const collected = {
    task: () => collectTask(divisible.pipeline),
    begin: () => new DividedStages(until, read.find.project),
    collector,
    maxResults: maxGroups
  }
  const execution = { ...read.execution, parallel: { ...read.execution.parallel, collected } }
  return {
    read: { ...read, execution },
    stages: stages.map((each) => (each === stage ? { ...stage, begin: () => collector } : each))
  }
}

function* documentsOf(
  stages: readonly Stage[],
  expressions: Expressions,
  read: FirstRead | undefined,
  context: StageContext
): Documents {
  if (expressions.needsLoading) yield* wait(expressions.load())
  const found = read === undefined ? noDocuments() : firstDocuments(read)
  // Stages share values that they do not change, so each result is copied.
  yield* stages.length === 0 ? found : copyDocuments(runStages(found, stages, context), context.control)
}

function firstDocuments(read: FirstRead): Documents {
  return transform(readFound(read.execution, read.find, read.stages), function* (slice) {
    read.returned += slice.length
    yield slice
  })
}
