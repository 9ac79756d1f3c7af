/**
 * Gathers the entries of a lookup, as long as that costs less than what they spare.
 *
 * An entry costs about a microsecond, a document five. Entries are gathered as long as their number stays below half of
 * the documents that the index over pairs would have to fetch and test. That number is known only after querying that
 * index, which costs less than a few hundred entries.
 */
import { type Execution, pauseIfDue } from '../read/execution.ts'
import { type Steps, type Waiting, wait } from '../read/steps.ts'
import type { IndexAccess } from './choose-access.ts'
import { readOrdinals } from './entry-reader.ts'
import { IdIndex } from './id-index.ts'
import type { IndexRead } from './read-by-index.ts'

/** Entries gathered before alternatives are examined. */
const trialEntries = 256
/** Maximum number of ordinals gathered: 8 MiB. */
const maxGathered = 1 << 20

/** The ordinals of a lookup, ascending; undefined if another way is cheaper. */
export function* gather(execution: Execution, read: IndexRead, lookup: IndexAccess): Waiting<number[] | undefined> {
  const gathering = new Gathering(execution, read, lookup)
  try {
    return (yield* gathering.few()) ?? (yield* gathering.all())
  } finally {
    gathering.close()
  }
}

/** A lookup whose entries are read in two steps, between which another way may be tried. Must be closed. */
export class Gathering {
  readonly #execution: Execution
  readonly #lookup: IndexAccess
  readonly #isForced: boolean
  readonly #runs: Steps<number[]>
  readonly #ordinals: number[] = []
  readonly #examinedBefore: number
  #isUseful = true

  constructor(execution: Execution, { store, choice }: IndexRead, lookup: IndexAccess) {
    this.#execution = execution
    this.#lookup = lookup
    this.#isForced = choice.isForced
    this.#runs = readOrdinals(store, execution.view, lookup, execution.meter)
    this.#examinedBefore = execution.meter.keysExamined
  }

  /**
   * Returns the ordinals, ascending, if there are so few entries that it takes no look at alternatives, or a hint wants
   * them.
   */
  *few(): Waiting<number[] | undefined> {
    // The index over pairs is as good if it has a column of the `_id`s.
    if (this.#lookup.index instanceof IdIndex && !this.#isForced) {
      this.#isUseful = maxSparedFetches(yield* survey(this.#execution)) > trialEntries
    }
    return this.#isUseful ? yield* this.#upTo(this.#isForced ? Number.POSITIVE_INFINITY : trialEntries) : undefined
  }

  /** Returns the ordinals, ascending, unless reading candidates is cheaper. REQUIRES: few() returned undefined */
  *all(): Waiting<number[] | undefined> {
    // The first matches are available sooner if the entries need not be gathered first.
    if (!this.#isUseful || Number.isFinite(this.#execution.maxMatches)) return undefined
    return yield* this.#upTo(Math.min(maxGathered, maxSparedFetches(yield* survey(this.#execution)) / 2))
  }

  close(): void {
    this.#runs.return()
  }

  *#upTo(entries: number): Waiting<number[] | undefined> {
    const { meter } = this.#execution
    while (meter.keysExamined - this.#examinedBefore < entries) {
      let step = this.#runs.next()
      while (!step.done && step.value instanceof Promise) step = this.#runs.next(yield step.value)
      if (step.done) return this.#ordinals.sort((a, b) => a - b)
      for (const ordinal of step.value as number[]) this.#ordinals.push(ordinal)
      yield* pauseIfDue(this.#execution)
    }
    return undefined
  }
}

/** Documents that the execution's own plan would fetch, and how many of them certainly match. */
export interface Survey {
  readonly candidates: number
  readonly certain: number
}

export function* survey(execution: Execution): Waiting<Survey> {
  const { view, plan } = execution
  if (plan.kind === 'ids') return { candidates: plan.ids.length, certain: 0 }
  let [candidates, certain] = [0, 0]
  for (let i = 0; i < view.index.segmentCount; i++) {
    const { upperCount, lowerCount } = yield* wait(view.index.evaluate(i, plan.bounds, 0))
    candidates += upperCount
    certain += lowerCount
    yield* pauseIfDue(execution)
  }
  return { candidates, certain }
}

/**
 * Maximum number of documents that need not be fetched once the entries are known; certain matches are fetched in any
 * case.
 */
function maxSparedFetches({ candidates, certain }: Survey): number {
  return candidates - certain
}
