/**
 * Parses the outer form of a pipeline, an array of stages that are each an object with a single key, and copies them.
 */

import { PetalError } from '../model/errors.ts'
import { isPlainObject } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { type StagePlace, stageError } from './errors.ts'
import { copyOf } from './expression.ts'

export interface ParsedStage {
  readonly place: StagePlace
  readonly spec: unknown
}

/** Stages of MongoDB that need a server, or an index or data that do not exist here. */
const refused = new Set([
  '$changeStream',
  '$collStats',
  '$currentOp',
  '$geoNear',
  '$indexStats',
  '$listSessions',
  '$planCacheStats',
  '$search',
  '$searchMeta',
  '$vectorSearch'
])

const known = new Set([
  '$addFields',
  '$bucket',
  '$bucketAuto',
  '$count',
  '$densify',
  '$documents',
  '$facet',
  '$fill',
  '$graphLookup',
  '$group',
  '$limit',
  '$lookup',
  '$match',
  '$merge',
  '$out',
  '$project',
  '$redact',
  '$replaceRoot',
  '$replaceWith',
  '$sample',
  '$set',
  '$setWindowFields',
  '$skip',
  '$sort',
  '$sortByCount',
  '$unionWith',
  '$unset',
  '$unwind'
])

/** The context of a pipeline. */
export interface PipelineKind {
  /** The stage that contains the pipeline. */
  readonly within?: string | undefined
  /** The pipeline starts with given documents instead of a collection. */
  readonly isOverDocuments?: boolean
}

/** @throws PetalError TypeMismatch, FailedToParse, InvalidPipelineOperator, CommandNotSupported */
export function parsePipeline(pipeline: unknown, kind: PipelineKind = {}): readonly ParsedStage[] {
  const stages = parseStages(pipeline, kind.within)
  stages.forEach(({ place }, i) => {
    if (refused.has(place.stage)) throw stageError('CommandNotSupported', place, 'this stage is not supported')
    checkPlace(place, kind, i === stages.length - 1)
  })
  return stages
}

/**
 * Like parsePipeline(), but allows stages anywhere, including unsupported ones.
 * @throws PetalError TypeMismatch, FailedToParse, InvalidPipelineOperator
 */
export function parseStages(pipeline: unknown, within?: string): readonly ParsedStage[] {
  if (!Array.isArray(pipeline)) {
    const subject = within === undefined ? 'A pipeline' : `The pipeline of ${within}`
    throw new PetalError('TypeMismatch', `${subject} must be an array of stages, not ${describeType(pipeline)}`, {
      details: { within }
    })
  }
  return Array.from(pipeline, (stage: unknown, position) => parseStage(stage, position, within))
}

/** Checks stages that are only allowed in certain positions. */
function checkPlace(place: StagePlace, { within, isOverDocuments = false }: PipelineKind, isLast: boolean): void {
  if (place.stage === '$documents') {
    if (isOverDocuments)
      throw stageError('FailedToParse', place, 'it cannot be used in a pipeline that has input documents')
    if (place.position > 0) throw stageError('FailedToParse', place, 'it must be the first stage')
  }
  if (place.stage === '$out' || place.stage === '$merge') {
    if (within !== undefined) throw stageError('FailedToParse', place, 'it cannot be used in a nested pipeline')
    if (!isLast) throw stageError('FailedToParse', place, 'it must be the last stage')
  }
}

function parseStage(stage: unknown, position: number, within: string | undefined): ParsedStage {
  const [name, ...others] = isPlainObject(stage) ? Object.keys(stage) : []
  const place: StagePlace = { stage: name ?? 'A stage', position, within }
  if (!isPlainObject(stage) || name === undefined) {
    const found = isPlainObject(stage) ? 'an empty one' : describeType(stage)
    throw stageError('FailedToParse', place, `a stage must be an object such as { $limit: 10 }, not ${found}`)
  }
  if (others.length > 0)
    throw stageError('FailedToParse', place, `a stage must have exactly one key, got ${name} and ${others[0]}`)
  if (!known.has(name) && !refused.has(name)) {
    throw stageError('InvalidPipelineOperator', place, 'there is no such stage')
  }
  // Filters are copied when they are compiled, where it is known what they may contain.
  return { place, spec: name === '$match' ? stage[name] : copyOf(stage[name], place) }
}
