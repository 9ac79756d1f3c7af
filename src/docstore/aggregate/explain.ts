/** explain() of a pipeline: which stages were merged into the read, and what each of the others did. */
import { describePlace } from '../../aggregate/errors.ts'
import type { Stage } from '../../aggregate/stage.ts'
import { type Explanation, explainExecution } from '../read/explain.ts'
import { type AggregateOptions, compileAggregation } from './options.ts'
import { beginAggregation, type ReadableByName } from './run.ts'

/** A stage that runs over documents. */
export interface StageExplanation {
  /** Name of the stage, such as `$group`. */
  readonly stage: string
  /** Position in the pipeline, from 0. */
  readonly position: number
  /**
   * `streams` processes one document at a time; `collects` reads all input before its first output; `writes` is a final
   * writing stage, which has no output and which explain() does not run.
   */
  readonly mode: 'streams' | 'collects' | 'writes'
  readonly nReturned: number
}

/** Result of AggregationCursor.explain(). */
export interface AggregationExplanation {
  /** Stages merged into the read, such as `$match (stage 0)`. */
  readonly pushedDown: readonly string[]
  /** The read, explained like a find; undefined if the collection does not exist or is not read. */
  readonly read: Explanation | undefined
  /** All other stages. Those inside `$facet` and `$lookup` are not listed. */
  readonly stages: readonly StageExplanation[]
  readonly nReturned: number
  /** Total wall-clock time. */
  readonly milliseconds: number
}

const nothingWritten = { mode: 'writes', nReturned: 0 } as const

/** Runs the pipeline to its end, except for a writing stage, and reports what it took. */
export async function explainAggregation(
  name: string,
  readable: ReadableByName,
  pipeline: unknown,
  options: AggregateOptions
): Promise<AggregationExplanation> {
  const aggregation = compileAggregation(pipeline, options)
  const { stages, write } = aggregation.pipeline
  const given = new Map<Stage, number>()
  const run = await beginAggregation(name, readable, aggregation, options, (stage, documents) => {
    given.set(stage, (given.get(stage) ?? 0) + documents)
  })
  let nReturned = 0
  for (let slice = await run.next(); slice !== undefined; slice = await run.next()) nReturned += slice.length
  const milliseconds = run.control.elapsedMilliseconds
  return {
    pushedDown: aggregation.pipeline.read?.places.map(describePlace) ?? [],
    read: run.read && explainExecution(run.read.collection.name, run.read.stages.filter, run.read, milliseconds),
    stages: [
      ...stages.map(
        (stage): StageExplanation => ({
          stage: stage.place.stage,
          position: stage.place.position,
          mode: stage.kind === 'collect' || stage.kind === 'facet' ? 'collects' : 'streams',
          nReturned: given.get(stage) ?? 0
        })
      ),
      ...(write === undefined ? [] : [{ ...nothingWritten, stage: write.place.stage, position: write.place.position }])
    ],
    nReturned,
    milliseconds
  }
}
