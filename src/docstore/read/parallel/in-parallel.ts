/**
 * Reads with the help of threads: they decide about later parts while this thread confirms earlier ones.
 *
 * Invariants:
 * 1. Matches are those that this thread alone would find, in the same order; so are errors.
 * 2. At most `maxAhead` parts are decided before they are needed. Of each, only the ordinals of its matches are kept:
 *    their documents are read when it is the part's turn.
 */
import { noSort } from '../../../query/sort.ts'
import { type Candidates, candidatesOfOrdinals } from '../candidates.ts'
import type { OrdinalRange } from '../confirm-by-scan.ts'
import type { Confirmer, Match } from '../confirmer.ts'
import type { Execution } from '../execution.ts'
import { FieldsRead, usesNone } from '../fields-read.ts'
import { type Steps, wait } from '../steps.ts'
import { type Confirming, confirmPart, nextPart } from './confirm-part.ts'
import { collecting, Decider, finding } from './decider.ts'
import type { DecidedPart, PartRequest } from './messages.ts'
import type { Parallel } from './parallel.ts'
import type { Decision, ParallelScan } from './parallel-scan.ts'
import type { Part, Parts } from './parts.ts'

const maxAhead = 64
/** How long this thread waits for another before it does the work itself: longer than a part takes. */
const maxWait = 30

/** A part whose turn has not come yet. */
interface Ahead {
  readonly part: Part
  /** undefined if no thread was asked. */
  readonly decision: Decision | undefined
  /** What this thread decided. */
  own: DecidedPart | undefined
  /** Whether this thread may decide it before its turn: it has not tried yet. */
  canDecide: boolean
  /** Whether this thread has waited for another to decide it. */
  isLate: boolean
}

export class InParallel {
  readonly #execution: Execution
  readonly #parallel: Parallel
  readonly #confirmer: Confirmer
  readonly #parts: Parts
  readonly #scan: ParallelScan
  readonly #isCounting: boolean
  readonly #decider: Decider
  /** In order. */
  readonly #ahead: Ahead[] = []

  constructor(
    execution: Execution,
    parallel: Parallel,
    confirmer: Confirmer,
    parts: Parts,
    scan: ParallelScan,
    isCounting: boolean
  ) {
    this.#execution = execution
    this.#confirmer = confirmer
    this.#parts = parts
    this.#scan = scan
    this.#isCounting = isCounting
    this.#parallel = parallel
    this.#decider = deciderOf(execution, parallel)
  }

  /** Confirms all parts that are left, or those taken before the threads became free for other reads. */
  *run(): Steps<Match[]> {
    const { view } = this.#execution
    view.addReader(this.#scan)
    try {
      while (!this.#confirmer.isDone && (this.#scan.threads > 0 || this.#ahead.length > 0)) {
        // Nobody waits for matches longer than a part takes, and a collector takes them before the results of the next part.
        if (this.#confirmer.hasMatches) yield this.#confirmer.take()
        yield* this.#handOut()
        const next = this.#ahead[0] ?? (yield* this.#take())
        if (next === undefined) return
        if (isAwaited(next) && !next.isLate) {
          yield* this.#workAhead(next)
        } else {
          this.#ahead.shift()
          yield* this.#confirm(next)
        }
      }
    } finally {
      view.closeReader(this.#scan)
    }
  }

  /** Keeps the threads busy. */
  *#handOut(): Confirming<void> {
    while (this.#scan.wantsPart && this.#ahead.length < maxAhead) {
      if ((yield* this.#take()) === undefined) return
    }
  }

  /** Takes the next part, for a thread that wants it; undefined if there is none. */
  *#take(): Confirming<Ahead | undefined> {
    const part = yield* nextPart(this.#execution, this.#confirmer, this.#parts)
    if (part === undefined) return undefined
    const { isDense } = part
    const decision = isDense && this.#scan.wantsPart ? this.#scan.decide(requestFor(part)) : undefined
    const taken = { part, decision, own: undefined, canDecide: isDense, isLate: false }
    this.#ahead.push(taken)
    return taken
  }

  *#confirm({ part, decision, own }: Ahead): Steps<Match[]> {
    const { meter } = this.#execution
    const decided = own ?? decision?.result
    if (decided === undefined) return yield* confirmPart(this.#execution, this.#confirmer, part)
    const { result, costs } = decided
    meter.documentsFetched += costs.documentsFetched
    meter.tested += costs.tested
    meter.confirmed += costs.confirmed
    if (result.kind === 'found') {
      yield* this.#read(result.ordinals, part.range)
    } else {
      this.#parallel.collected?.collector.merge(result.partial)
    }
  }

  /** Reads the documents of matches, unless they are only counted. */
  *#read(ordinals: Float64Array, range: OrdinalRange): Steps<Match[]> {
    if (this.#isCounting) return this.#confirmer.count(ordinals.length)
    const { meter } = this.#execution
    const fetched = meter.documentsFetched
    if (range.reverse) ordinals.reverse()
    yield* confirmPart(this.#execution, this.#confirmer, { candidates: candidatesOfOrdinals(ordinals, true), range })
    // They have been counted.
    meter.documentsFetched = fetched
  }

  /** While a thread decides the part whose turn it is, decides a later one, or waits. */
  *#workAhead(current: Ahead): Steps<Match[]> {
    const next = yield* this.#nextOwn(current)
    if (next === undefined) {
      current.isLate = !(yield* wait(settlesWithin(current.decision!, maxWait)))
      this.#execution.control.beginSlice()
      return
    }
    next.canDecide = false
    try {
      next.own = yield* this.#decider.decide(requestFor(next.part))
    } catch {
      // Occurs again if it is still relevant when it is the part's turn.
    }
  }

  /** Returns a part that this thread can decide: one that no thread was asked for, or else the one that it would do last. */
  *#nextOwn(current: Ahead): Confirming<Ahead | undefined> {
    const unasked = this.#ahead.find(isUnasked)
    if (unasked !== undefined) return unasked
    while (this.#ahead.length < maxAhead) {
      const taken = yield* this.#take()
      if (taken === undefined) break
      if (isUnasked(taken)) return taken
    }
    return this.#ahead.findLast((each) => each !== current && each.canDecide && isAwaited(each))
  }
}

function deciderOf(execution: Execution, { first, collected }: Parallel): Decider {
  const { filter } = execution
  if (collected !== undefined) return new Decider(execution, filter, collecting(collected.begin))
  const fields = new FieldsRead(filter, first?.sort ?? noSort, usesNone)
  return new Decider({ ...execution, fields }, filter, finding(first))
}

function isUnasked({ decision, canDecide }: Ahead): boolean {
  return decision === undefined && canDecide
}

function isAwaited({ decision, own }: Ahead): boolean {
  return decision !== undefined && !decision.isSettled && own === undefined
}

async function settlesWithin({ settled }: Decision, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds)
  })
  const isSettled = await Promise.race([settled.then(() => true), late])
  clearTimeout(timer)
  return isSettled
}

function requestFor({ candidates, range }: Part): PartRequest {
  const { count } = candidates
  const isWhole = count === range.to - range.from
  return {
    from: range.from,
    to: range.to,
    ordinals: isWhole ? undefined : ordinalsOf(candidates, range.reverse),
    isCertain: areCertain(candidates)
  }
}

/** Ascending. */
function ordinalsOf(candidates: Candidates, reverse: boolean): Float64Array {
  const ordinals = Float64Array.from({ length: candidates.count }, (_, i) => candidates.ordinal(i))
  return reverse ? ordinals.reverse() : ordinals
}

function areCertain(candidates: Candidates): boolean {
  for (let i = 0; i < candidates.count; i++) if (!candidates.isCertain(i)) return false
  return true
}
