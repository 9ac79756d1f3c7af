/**
 * Updates by pipelines: `[{ $set: { total: { $add: ['$a', '$b'] } } }, { $unset: 'a' }]` maps a document to a new one.
 *
 * Invariants:
 * 1. Those of every update (query/update/update.ts): the input document is never changed, `_id` never changes, even if
 *    a stage omits it, and an update that changes nothing returns the same document.
 * 2. The pipeline is copied: later changes to it have no effect.
 * 3. Errors in the pipeline are detected before a document is processed: by compiling, or for operators by ready().
 */
import type { Document } from '../model/types.ts'
import { type Update, withFields } from '../query/update/update.ts'
import { stageError } from './errors.ts'
import type { Expressions } from './expression.ts'
import type { LoopGuard } from './loop-guard.ts'
import { parseStages } from './parse.ts'
import { compileReshape } from './reshape.ts'

export interface UpdatePipeline {
  /** REQUIRES: ready() was awaited, if defined. */
  readonly change: Update
  /** Loads operators, once; undefined if there are none. */
  readonly ready: (() => Promise<void>) | undefined
  /** Looks at the limits of the call. */
  readonly loops: LoopGuard
}

/**
 * @throws PetalError naming the stage and its position, InvalidOptions for a stage that updates do not allow; likewise
 *   ready() and the compiled update, which may also throw ImmutableField
 * @example
 * const { change, ready } = compileUpdatePipeline([{ $set: { total: { $add: ['$a', '$b'] } } }], new Expressions())
 * await ready?.()
 * change({ _id: 1, a: 2, b: 3 }, { isInsert: false, now: new Date() }) // { _id: 1, a: 2, b: 3, total: 5 }
 */
export function compileUpdatePipeline(pipeline: unknown, expressions: Expressions): UpdatePipeline {
  const change = compileChange(pipeline, expressions)
  return {
    change: (document) => withFields(document, change(document)),
    ready: expressions.needsLoading ? () => expressions.load() : undefined,
    loops: expressions.loops
  }
}

/**
 * Compiles a pipeline to a function from document to document, which does not change its argument.
 * @param within the stage that contains the pipeline
 */
export function compileChange(
  pipeline: unknown,
  expressions: Expressions,
  within?: string
): (document: Document) => Document {
  const stages = parseStages(pipeline, within).map((stage) => {
    const reshape = compileReshape(stage, expressions)
    if (reshape !== undefined) return reshape
    const allowed = '$addFields, $set, $project, $unset, $replaceRoot and $replaceWith'
    throw stageError('InvalidOptions', stage.place, `an update cannot contain this stage, only ${allowed}`)
  })
  return (document) => stages.reduce((result, reshape) => reshape(result), document)
}
