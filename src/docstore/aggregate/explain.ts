/** explain() of a pipeline: what became one read, and what each other stage did. */
import { describePlace } from '../../aggregate/errors.ts'
import type { Stage } from '../../aggregate/stage.ts'
import { type Explanation, explainExecution } from '../read/explain.ts'
import { type AggregateOptions, compileAggregation } from './options.ts'
import { beginAggregation, type ReadableByName } from './run.ts'

/** A stage that runs over documents. */
export interface StageExplanation {
  /** `$group`. */
  readonly stage: string
  /** In the pipeline, from 0. */
  readonly position: number
  /**
   * `streams` has one document at a time; `collects` takes all before it gives one; `writes` is a last stage that gives none, and that
   * explain() leaves out.
   */
  readonly mode: 'streams' | 'collects' | 'writes'
  readonly nReturned: number
}

export interface AggregationExplanation {
  /** Stages that became the read: `$match (stage 0)`. */
  readonly pushedDown: readonly string[]
  /** The read, as a find explains itself; undefined where the collection does not exist, or is not read. */
  readonly read: Explanation | undefined
  /** All other stages. What `$facet` and `$lookup` run inside is not listed. */
  readonly stages: readonly StageExplanation[]
  readonly nReturned: number
  /** All of it, by the clock. */
  readonly milliseconds: number
}

const nothingWritten = { mode: 'writes', nReturned: 0 } as const

/** Runs the pipeline to its end, but for a stage that writes, and tells what it took. */
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
