/**
 * Errors of pipelines, and of expressions in finds: each names the stage and where it stands.
 */
import { AbortedError, type ErrorName, PetalError } from '../model/errors.ts'

/** Where an expression stands: in a stage, or in the `$expr` or the projection of a find. */
export interface Place {
  /** `$limit`, `$expr`. */
  readonly stage: string
  /** Of a stage in its pipeline, from 0. */
  readonly position?: number
  /** The stage whose sub-pipeline it is in: `$facet.top`. */
  readonly within?: string | undefined
}

/** Where a stage stands. */
export interface StagePlace extends Place {
  readonly position: number
}

/**
 * @param problem what is wrong, without the stage: it is added
 * @param more details beside those of the place
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

/** Runs a step of compiling; its errors are told with the stage. */
export function told<T>(place: StagePlace, compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    if (!(error instanceof PetalError) || error.details.stage !== undefined) throw error
    throw stageError(error.codeName, place, error.message, error, error.details)
  }
}

/** An error of an expression or of the caller's function, told with its stage unless it knows one. */
export function evaluationError(place: Place, error: unknown): unknown {
  if (error instanceof PetalError) {
    // Of the call, wherever it is noticed.
    if (error instanceof AbortedError || error.codeName === 'MaxTimeMSExpired') return error
    return error.details.stage === undefined
      ? stageError(error.codeName, place, error.message, error, error.details)
      : error
  }
  return stageError('BadValue', place, error instanceof Error ? error.message : String(error), error)
}

export function describePlace({ stage, position, within }: Place): string {
  if (position === undefined) return stage
  return `${stage} (stage ${position}${within === undefined ? '' : ` of ${within}`})`
}
