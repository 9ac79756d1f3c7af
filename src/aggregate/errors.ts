/** Errors of pipelines, and of expressions in finds; each names the stage and its position. */
import { tooDeep } from '../model/depth.ts'
import { AbortedError, type ErrorName, PetalError } from '../model/errors.ts'

/** Location of an expression: in a stage, or in the `$expr` or projection of a find. */
export interface Place {
  /** `$limit` or `$expr`, for example. */
  readonly stage: string
  /** Position of the stage in its pipeline, from 0. */
  readonly position?: number
  /** The stage that contains the sub-pipeline, such as `$facet.top`. */
  readonly within?: string | undefined
}

/** Location of a stage. */
export interface StagePlace extends Place {
  readonly position: number
}

/**
 * @param problem without the stage, which is added
 * @param more details besides those of the place
 */
export function stageError(
  codeName: ErrorName,
  place: Place,
  problem: string,
  cause?: unknown,
  more: PetalError['details'] = {}
): PetalError {
  const { stage, position, within } = place
  const details = { ...more, stage, position, within }
  return new PetalError(codeName, `${describePlace(place)}: ${problem}`, { details, cause })
}

/** Runs a step of compilation, and adds the stage to its errors. */
export function withStage<T>(place: StagePlace, compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    if (!(error instanceof PetalError) || error.details.stage !== undefined) throw error
    throw stageError(error.codeName, place, error.message, error, error.details)
  }
}

/** Adds the stage to an error of an expression or of the caller's function, unless it already has one. */
export function evaluationError(place: Place, error: unknown): unknown {
  if (error instanceof PetalError) {
    // These errors belong to the whole call, wherever they are detected.
    if (error instanceof AbortedError || error.codeName === 'MaxTimeMSExpired') return error
    return error.details.stage === undefined
      ? stageError(error.codeName, place, error.message, error, error.details)
      : error
  }
  return stageError('BadValue', place, problemOf(error), error)
}

function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Of the engine, while a value was compared, for example.
  const isStackOverflow = error instanceof RangeError && error.message.includes('call stack')
  return isStackOverflow ? `${error.message}; ${tooDeep('a value').message}` : error.message
}

export function describePlace({ stage, position, within }: Place): string {
  if (position === undefined) return stage
  return `${stage} (stage ${position}${within === undefined ? '' : ` of ${within}`})`
}
