/**
 * Runs a plan over a read view: bounds → candidates → records → confirmed matches.
 *
 * Invariants:
 * 1. A document is returned only if it is certain (in the lower bound) or the filter matches it.
 * 2. Matches come in ordinal order, or in reverse.
 * 3. At most one slice of matches is held, whatever the size of the collection.
 * 4. Yields to the event loop, and checks whether to stop, every few milliseconds.
 */
import { tryEncodeKey } from '../../model/key.ts'
import { candidatesOfOrdinals } from './candidates.ts'
import { confirmByKey } from './confirm.ts'
import { Confirmer, type Match } from './confirmer.ts'
import { type Execution, pauseIfDue } from './execution.ts'
import { confirmPart, nextPart } from './parallel/confirm-part.ts'
import { InParallel } from './parallel/in-parallel.ts'
import { Beginning } from './parallel/parallel.ts'
import { Parts } from './parallel/parts.ts'
import { forEachStep, type Steps, wait } from './steps.ts'

/**
 * Yields all matches in slices, except for certain ones that `skip` would drop: a page far into the results does not
 * read the documents before it.
 */
export function* findMatches(execution: Execution): Steps<Match[]> {
  const { plan, meter, maxMatches, filter } = execution
  const confirmer = new Confirmer(filter, meter, maxMatches)
  if (plan.kind === 'ids') {
    const ordinals = yield* lookUp(execution, plan.ids)
    if (plan.reverse) ordinals.reverse()
    meter.candidates += ordinals.length
    yield* confirmByKey(execution, confirmer, candidatesOfOrdinals(ordinals))
  } else {
    yield* confirmParts(execution, confirmer, new Parts(execution, plan, false), false)
  }
  if (confirmer.hasMatches) yield confirmer.take()
}

/** Yields the number of matches, once. Certain documents are counted, not fetched. */
export function* countMatches(execution: Execution): Steps<number> {
  const { plan, meter, maxMatches, filter } = execution
  if (plan.kind === 'ids') {
    let count = 0
    yield* forEachStep(findMatches(execution), (slice) => {
      count += slice.length
    })
    yield count
  } else {
    const confirmer = new Confirmer(filter, meter, maxMatches, true)
    const parts = new Parts(execution, plan, true)
    yield* forEachStep(confirmParts(execution, confirmer, parts, true), () => undefined)
    yield Math.min(confirmer.found, maxMatches)
  }
}

/** Leaves the last, incomplete slice in the confirmer. */
function* confirmParts(execution: Execution, confirmer: Confirmer, parts: Parts, isCounting: boolean): Steps<Match[]> {
  const { parallel } = execution
  let beginning: Beginning | undefined
  for (;;) {
    const part = yield* nextPart(execution, confirmer, parts)
    if (part === undefined) return
    if (parallel === undefined || !part.isDense) {
      yield* confirmPart(execution, confirmer, part)
      continue
    }
    beginning ??= new Beginning(execution, parallel, confirmer, isCounting)
    const scan = yield* beginning.confirm(part, parts)
    if (scan !== undefined) yield* new InParallel(execution, parallel, confirmer, parts, scan, isCounting).run()
  }
}

/** So many are looked up within a millisecond or two. */
const idsPerLookup = 500

/** Returns the visible ordinals of the documents with these `_id`s, ascending. */
function* lookUp(execution: Execution, ids: readonly unknown[]): Generator<Promise<unknown>, number[], unknown> {
  const { view } = execution
  // The filter may contain equal values more than once.
  const visible = new Set<number>()
  for (let from = 0; from < ids.length; from += idsPerLookup) {
    if (from > 0) yield* pauseIfDue(execution)
    const keys = ids.slice(from, from + idsPerLookup).flatMap((id) => tryEncodeKey(id) ?? [])
    for (const ordinal of yield* wait(view.ordinalsOf(keys))) {
      if (ordinal !== undefined && view.shows(ordinal)) visible.add(ordinal)
    }
  }
  return visible.size < 2 ? [...visible] : [...visible].sort((a, b) => a - b)
}
