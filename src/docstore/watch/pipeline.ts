/**
 * The pipeline of watch(): `$match` and `$project` over events.
 *
 * Stages in front of the first `$project` are asked when a change is committed: what they refuse is not held. The rest is done
 * when the event is taken.
 */
import { type Document, isPlainObject, typeNames, typeOf } from '../../model/types.ts'
import { compileFilter } from '../../query/filter.ts'
import { compileProjection } from '../../query/projection.ts'
import { badPipeline, stageNotSupported } from './errors.ts'

export interface Pipeline {
  /** Whether a stream holds the event; undefined when it holds all. May run functions of the caller's. */
  readonly admits: ((event: Document) => boolean) | undefined
  /** The event as it is handed out; undefined for one that is not. */
  readonly shape: (event: Document) => Document | undefined
}

/** Gives the event, changed or not, or undefined. */
type Stage = (event: Document) => Document | undefined

/** @throws PetalError BadValue, CommandNotSupported for other stages, and those of filters and projections */
export function compilePipeline(pipeline: unknown): Pipeline {
  if (!Array.isArray(pipeline)) throw badPipeline(`must be an array, got ${typeNames[typeOf(pipeline)]}`)
  const stages = pipeline.map(compileStage)
  const firstProject = pipeline.findIndex((stage) => '$project' in stage)
  const atCommit = firstProject < 0 ? stages : stages.slice(0, firstProject)
  const atTaking = firstProject < 0 ? [] : stages.slice(firstProject)
  return {
    admits: atCommit.length === 0 ? undefined : (event) => run(atCommit, event) !== undefined,
    // Whole now: its fields were worked out as they were asked for.
    shape: (event) => run(atTaking, { ...event })
  }
}

function compileStage(stage: unknown, position: number): Stage {
  const names = isPlainObject(stage) ? Object.keys(stage) : []
  const [name] = names
  if (!isPlainObject(stage) || name === undefined || names.length > 1) {
    throw badPipeline(`has stages of one operator each, at ${position}`, { position })
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
