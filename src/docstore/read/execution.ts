/** A read in progress: its inputs, and when it yields to the event loop. */
import type { CompiledFilter } from '../../query/filter.ts'
import type { IndexRead } from '../indexes/read-by-index.ts'
import type { Confirmer, Match } from './confirmer.ts'
import type { Control } from './control.ts'
import type { FieldsRead } from './fields-read.ts'
import type { Meter } from './meter.ts'
import type { Parallel } from './parallel/parallel.ts'
import type { Plan } from './planner.ts'
import type { ReadView } from './read-view.ts'
import type { Steps } from './steps.ts'

export interface Execution {
  readonly view: ReadView
  readonly plan: Plan
  /** A declared index that may be better than the plan. */
  readonly declared: IndexRead | undefined
  readonly filter: CompiledFilter
  readonly control: Control
  readonly meter: Meter
  /** Maximum number of matches wanted; Infinity for all. */
  readonly maxMatches: number
  /** Number of leading matches that need not be returned, because skip would drop them. */
  readonly unwanted: number
  /** Scans may decode only these fields; their matches then lack all others. */
  readonly fields: FieldsRead
  /** What threads that help need; undefined if none may. */
  readonly parallel: Parallel | undefined
}

/** What a pause looks at. */
interface Paused extends Pick<Execution, 'control'> {
  readonly view: Pick<ReadView, 'assertOpen'>
}

/** Called after each document: whether it is time to call isYieldDue(). */
export function isClockCheckDue({ control }: Pick<Execution, 'control'>, confirmer: Confirmer): boolean {
  return control.countDocument() || confirmer.isSliceFull
}

/**
 * Whether it is time for yieldSlice(). Separate from it, because calling it needs no generator. Throws if the read was
 * aborted.
 */
export function isYieldDue({ control, view }: Paused, confirmer: Confirmer): boolean {
  const isPauseDue = control.checkClock()
  view.assertOpen()
  return isPauseDue || confirmer.isSliceFull
}

/** Yields the current slice, and yields to the event loop when it is time. */
export function* yieldSlice(execution: Paused, confirmer: Confirmer): Steps<Match[]> {
  if (confirmer.hasMatches) yield confirmer.take()
  yield* pauseIfDue(execution)
}

/** Yields to the event loop when it is time. Throws if the read was aborted. */
export function* pauseIfDue({ control, view }: Paused): Generator<Promise<unknown>, void, unknown> {
  if (control.isPauseDue) yield control.pause()
  control.check()
  view.assertOpen()
}
