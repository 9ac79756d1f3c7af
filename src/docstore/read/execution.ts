/** One read under way: what it works with, and when it gives others their turn. */
import type { CompiledFilter } from '../../query/filter.ts'
import type { IndexRead } from '../indexes/read-by-index.ts'
import type { Confirmer, Match } from './confirmer.ts'
import type { Control } from './control.ts'
import type { Meter } from './meter.ts'
import type { Plan } from './planner.ts'
import type { ReadView } from './read-view.ts'
import type { Steps } from './steps.ts'

export interface Execution {
  readonly view: ReadView
  readonly plan: Plan
  /** A declared index that may do better than the plan. */
  readonly declared: IndexRead | undefined
  readonly filter: CompiledFilter
  readonly control: Control
  readonly meter: Meter
  /** No more matches than these are wanted; Infinity for all. */
  readonly maxMatches: number
  /** The first matches in the order of ordinals are passed over where that is the order asked for: nobody wants to see them. */
  readonly unwanted: number
}

/** Asked after each document: whether it is time for isBreathDue(). */
export function isLookDue({ control }: Execution, confirmer: Confirmer): boolean {
  return control.countDocument() || confirmer.isSliceFull
}

/** Whether it is time for breathe(): seldom, and to ask takes no generator. Ends the read when it was told to end. */
export function isBreathDue({ control, view }: Execution, confirmer: Confirmer): boolean {
  const isPauseDue = control.look()
  view.assertOpen()
  return isPauseDue || confirmer.isSliceFull
}

/** Hands out what there is, and lets the event loop run when it is time. */
export function* breathe(execution: Execution, confirmer: Confirmer): Steps<Match[]> {
  if (confirmer.hasMatches) yield confirmer.take()
  yield* pauseIfDue(execution)
}

/** Lets the event loop run when it is time; ends the read when it was told to end. */
export function* pauseIfDue({ control, view }: Execution): Generator<Promise<unknown>, void, unknown> {
  if (control.isPauseDue) yield control.pause()
  control.check()
  view.assertOpen()
}
