/**
 * Updates that are pipelines: `[{ $set: { total: { $add: ['$a', '$b'] } } }, { $unset: 'a' }]` → document in, new document out.
 *
 * Invariants:
 * 1. Those of every update (query/update/update.ts): a document that is given is never changed, `_id` never changes, not even
 *    where a stage leaves it out, and what changes nothing returns the very same document.
 * 2. The pipeline is copied: changing it later changes nothing.
 * 3. What is malformed is found before a document is asked for: by compiling, or for operators by ready().
 */
import type { Document } from '../model/types.ts'
import { type Update, withFields } from '../query/update/update.ts'
import { stageError } from './errors.ts'
import type { Expressions } from './expression.ts'
import { parseStages } from './parse.ts'
import { compileReshape } from './reshape.ts'

export interface UpdatePipeline {
  /** REQUIRES: ready() was awaited, if there is one. */
  readonly change: Update
  /** Loads operators, once; undefined where there are none. */
  readonly ready: (() => Promise<void>) | undefined
}

/**
 * @throws PetalError that names the stage and its position, InvalidOptions for one that an update may not have; so do ready() and the
 *   compiled update, which throws ImmutableField as well
 * @example
 * const { change, ready } = compileUpdatePipeline([{ $set: { total: { $add: ['$a', '$b'] } } }], new Expressions())
 * await ready?.()
 * change({ _id: 1, a: 2, b: 3 }, { isInsert: false, now: new Date() }) // { _id: 1, a: 2, b: 3, total: 5 }
 */
export function compileUpdatePipeline(pipeline: unknown, expressions: Expressions): UpdatePipeline {
  const change = compileChange(pipeline, expressions)
  return {
    change: (document) => withFields(document, change(document)),
    ready: expressions.needsLoading ? () => expressions.load() : undefined
  }
}

/**
 * What a pipeline makes of a document, which it does not change.
 * @param within the stage that it is part of
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
    throw stageError('InvalidOptions', stage.place, `an update takes no such stage, only ${allowed}`)
  })
  return (document) => stages.reduce((result, reshape) => reshape(result), document)
}
