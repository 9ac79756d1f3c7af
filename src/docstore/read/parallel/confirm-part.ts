/** The steps of a read that goes through parts: takes the next one, and confirms it. */
import { countLeadingCertain, skipFirst } from '../candidates.ts'
import { confirm } from '../confirm.ts'
import type { Confirmer, Match } from '../confirmer.ts'
import { type Execution, isYieldDue, yieldSlice } from '../execution.ts'
import type { Steps } from '../steps.ts'
import type { Part, Parts } from './parts.ts'

/** Yields slices or promises, and returns T in the end. */
export type Confirming<T> = Generator<Match[] | Promise<unknown>, T, unknown>

/** Returns the next part with candidates; undefined at the end, or when enough is counted. */
export function* nextPart(execution: Execution, confirmer: Confirmer, parts: Parts): Confirming<Part | undefined> {
  while (!confirmer.isDone) {
    // As wait() does, without a generator: segments are many.
    const next = parts.next()
    const part = next instanceof Promise ? ((yield next) as Part | undefined) : next
    if (part === undefined) return undefined
    confirmer.count(part.counted)
    if (isYieldDue(execution, confirmer)) yield* yieldSlice(execution, confirmer)
    if (part.candidates.count > 0) return part
  }
  return undefined
}

/** Does not read certain matches that `skip` would drop. */
export function confirmPart(
  execution: Execution,
  confirmer: Confirmer,
  { candidates, range }: Pick<Part, 'candidates' | 'range'>
): Steps<Match[]> {
  const unwanted = execution.unwanted - confirmer.found
  const passed = unwanted > 0 ? countLeadingCertain(candidates, unwanted) : 0
  confirmer.skipCertain(passed)
  return confirm(execution, confirmer, skipFirst(candidates, passed), range)
}
