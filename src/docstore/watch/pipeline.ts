/**
 * The pipeline of watch(): `$match` and `$project` stages over events.
 *
 * Stages before the first `$project` are evaluated at commit: events they reject are not buffered. The rest run when
 * the event is taken.
 */
import { type Document, describeType, isPlainObject } from '../../model/types.ts'
import { compileFilter } from '../../query/filter.ts'
import { compileProjection } from '../../query/projection.ts'
import { badPipeline, stageNotSupported } from './errors.ts'

export interface Pipeline {
  /** Whether a stream buffers the event; undefined if it buffers all. May call functions of the caller. */
  readonly admits: ((event: Document) => boolean) | undefined
  /** Returns the event to deliver, or undefined to drop it. */
  readonly shape: (event: Document) => Document | undefined
}

/** Returns the event, changed or not, or undefined to drop it. */
type Stage = (event: Document) => Document | undefined

/** @throws PetalError BadValue, CommandNotSupported for other stages, and those of filters and projections */
export function compilePipeline(pipeline: unknown): Pipeline {
  if (!Array.isArray(pipeline)) throw badPipeline(`must be an array, got ${describeType(pipeline)}`)
  const stages = pipeline.map(compileStage)
  const firstProject = pipeline.findIndex((stage) => '$project' in stage)
  const atCommit = firstProject < 0 ? stages : stages.slice(0, firstProject)
  const atTaking = firstProject < 0 ? [] : stages.slice(firstProject)
  return {
    admits: atCommit.length === 0 ? undefined : (event) => run(atCommit, event) !== undefined,
    // Copied, which computes all its lazy fields.
    shape: (event) => run(atTaking, { ...event })
  }
}

function compileStage(stage: unknown, position: number): Stage {
  const names = isPlainObject(stage) ? Object.keys(stage) : []
  const [name] = names
  if (!isPlainObject(stage) || name === undefined || names.length > 1) {
    throw badPipeline(`must have one operator per stage, at ${position}`, { position })
  }
  switch (name) {
    case '$match': {
      const { matches } = compileFilter(stage.$match)
      return (event) => (matches(event) ? event : undefined)
    }
    case '$project':
      return compileProjection(stage.$project)
    default:
      throw stageNotSupported(name, position)
  }
}

function run(stages: readonly Stage[], event: Document): Document | undefined {
  let result: Document | undefined = event
  for (const stage of stages) {
    if (result === undefined) return undefined
    result = stage(result)
  }
  return result
}
