/** Reads Dates independently of overridden methods in applications' subclasses. */

const { getTime } = Date.prototype

/**
 * Milliseconds since 1970, a whole number; NaN for an invalid date. REQUIRES: a value of type date
 * @throws TypeError for an object that only has Date's prototype
 */
export function timeOf(date: unknown): number {
  return getTime.call(date as Date)
}
