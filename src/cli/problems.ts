/** Problems of a database, one per line. */
import type { VerifyProblem } from '../index.ts'
import { formatCount } from './format.ts'

export function problemLines(problems: readonly VerifyProblem[], problemCount: number): string[] {
  const lines = problems.map(
    ({ collection, kind, what }) =>
      `${collection === undefined ? 'store' : `collection ${collection}`}: ${kind}: ${what}`
  )
  const unlisted = problemCount - problems.length
  if (unlisted > 0) lines.push(`and ${formatCount(unlisted)} more`)
  return lines
}
