/**
 * Errors of the filter language: MongoDB's codes, and messages that name operator, path and the offending value's type.
 */
import { type ErrorName, PetalError } from '../model/errors.ts'

export { describeType } from '../model/types.ts'

/** Where in a filter the problem is. */
export interface FilterPlace {
  /** Dotted path of the field concerned; empty at the top. */
  readonly path: string
  /** The operator whose argument is wrong, when there is one. */
  readonly operator?: string | undefined
}

/**
 * @param codeName BadValue, FailedToParse, TypeMismatch or CommandNotSupported
 * @param problem the problem, without operator and path, which are added
 */
export function filterError(codeName: ErrorName, place: FilterPlace, problem: string, cause?: unknown): PetalError {
  const { operator, path } = place
  const subject = [operator, path === '' ? undefined : `at '${path}'`].filter((part) => part !== undefined).join(' ')
  return new PetalError(codeName, subject === '' ? problem : `${subject}: ${problem}`, {
    details: { operator, path },
    cause
  })
}
