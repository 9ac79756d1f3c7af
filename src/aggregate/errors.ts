/**
 * Errors of pipelines: each names the stage and where it stands.
 */
import { AbortedError, type ErrorName, PetalError } from '../model/errors.ts'

/** Where a stage stands. */
export interface StagePlace {
  /** `$limit`. */
  readonly stage: string
  /** Position in its pipeline, from 0. */
  readonly position: number
  /** The stage whose sub-pipeline it is in: `$facet.top`. */
  readonly within?: string | undefined
}

/**
 * @param problem what is wrong, without the stage: it is added
 * @param more details beside those of the place
 */
export function stageError(
  codeName: ErrorName,
  place: StagePlace,
  problem: string,
  cause?: unknown,
  more: PetalError['details'] = {}
): PetalError {
  const { stage, position, within } = place
  const details = { ...more, stage, position, within }
  return new PetalError(codeName, `${describePlace(place)}: ${problem}`, { details, cause })
}

/** An error of an expression or of the caller's function, told with its stage unless it knows one. */
export function evaluationError(place: StagePlace, error: unknown): unknown {
  if (error instanceof AbortedError) return error
  if (error instanceof PetalError) {
    return error.details.stage === undefined
      ? stageError(error.codeName, place, error.message, error, error.details)
      : error
  }
  return stageError('BadValue', place, error instanceof Error ? error.message : String(error), error)
}

/** Runs a step of compiling; what is malformed is told with the stage, unless it was already. */
export function told<T>(place: StagePlace, compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    if (!(error instanceof PetalError) || error.details.stage !== undefined) throw error
    throw stageError(error.codeName, place, error.message, error, error.details)
  }
}

export function describePlace({ stage, position, within }: StagePlace): string {
  return `${stage} (stage ${position}${within === undefined ? '' : ` of ${within}`})`
}
