/**
 * Pure policy: which candidates to build, and which of the built ones to take.
 *
 * A target and a budget are limits. Within them bytes come first, then reads of rows and of documents fetched in vain:
 * these determine the time and, unlike it, are the same in every run.
 */

/** What a choice of parameters costs, predicted or measured. */
export interface Contender {
  readonly bytesPerDocument: number
  /** False positives per query and document. */
  readonly falsePositiveRate: number
  /** Predicted, per query and million documents. */
  readonly reads: number
}

/** At least one of them is given. */
export interface Goal {
  readonly targetFpr?: number | undefined
  readonly bytesPerDocument?: number | undefined
}

/** Why a choice was taken. */
export type Ground =
  /** The smallest of those that meet the target, or a slightly larger one with fewer reads. */
  | 'smallest'
  /** The fewest false positives within the budget. */
  | 'most-exact'
  /** The present choice is as good as any. */
  | 'present'
  /** None meets the target; the fewest false positives, within the budget if there is one. */
  | 'target-missed'
  /** None fits the budget; the smallest of all. */
  | 'budget-missed'

export interface Verdict {
  /** Index into the contenders. */
  readonly taken: number
  readonly ground: Ground
}

/** Fewer reads are worth a tenth more bytes. */
const slightlyLarger = 1.1
/** A change has to be worth having two kinds of segments side by side. */
const sameBytes = 1.03
const sameRate = 1.1
const sameReads = 1.1

/** @param contenders at least one; @param present index of the one in force */
export function choose(contenders: readonly Contender[], goal: Goal, present: number): Verdict {
  const { targetFpr, bytesPerDocument = Number.POSITIVE_INFINITY } = goal
  const all = contenders.map((_, i) => i)
  const bytesOf = (i: number): number => contenders[i]!.bytesPerDocument
  const rateOf = (i: number): number => contenders[i]!.falsePositiveRate
  const readsOf = (i: number): number => contenders[i]!.reads
  const smallest = (among: readonly number[]): number => minBy(among, bytesOf, rateOf)
  const small = (among: readonly number[]): number => {
    const limit = Math.min(...among.map(bytesOf)) * slightlyLarger
    return minBy(
      among.filter((i) => bytesOf(i) <= limit),
      readsOf,
      bytesOf
    )
  }
  const mostExact = (among: readonly number[]): number => {
    // Nearly equal rates differ by chance.
    const limit = Math.min(...among.map(rateOf)) * sameRate
    return small(among.filter((i) => rateOf(i) <= limit))
  }
  const orPresent = (taken: number, ground: Ground, eligible: readonly number[]): Verdict => {
    const isAsGood =
      eligible.includes(present) &&
      bytesOf(present) <= bytesOf(taken) * sameBytes &&
      readsOf(present) <= readsOf(taken) * sameReads
    return isAsGood ? { taken: present, ground: 'present' } : { taken, ground }
  }

  const affordable = all.filter((i) => bytesOf(i) <= bytesPerDocument)
  if (affordable.length === 0) return { taken: smallest(all), ground: 'budget-missed' }
  if (targetFpr === undefined) {
    const taken = mostExact(affordable)
    return orPresent(
      taken,
      'most-exact',
      affordable.filter((i) => rateOf(i) <= rateOf(taken) * sameRate)
    )
  }
  const exact = affordable.filter((i) => rateOf(i) <= targetFpr)
  if (exact.length === 0) return { taken: mostExact(affordable), ground: 'target-missed' }
  return orPresent(small(exact), 'smallest', exact)
}

/**
 * Chooses which of the predicted contenders to build: the one in force, the one that would be taken, and its neighbours
 * on the Pareto frontier of bytes and rate, since predictions may be slightly off.
 * @returns indexes, the present one first
 */
export function shortlist(predicted: readonly Contender[], goal: Goal, present: number, most: number): number[] {
  const { taken } = choose(predicted, goal, present)
  const ground = predicted[taken]!
  const frontier = frontierOf(predicted)
  const distance = (i: number): number => Math.abs(Math.log(predicted[i]!.bytesPerDocument / ground.bytesPerDocument))
  const around = [...frontier].sort((a, b) => distance(a) - distance(b))
  return [...new Set([present, taken, ...around])].slice(0, most)
}

/** The Pareto frontier: those with no contender better in both bytes and rate, by ascending bytes. */
export function frontierOf(contenders: readonly Contender[]): number[] {
  const bySize = contenders.map((_, i) => i)
  bySize.sort(
    (a, b) =>
      contenders[a]!.bytesPerDocument - contenders[b]!.bytesPerDocument ||
      contenders[a]!.falsePositiveRate - contenders[b]!.falsePositiveRate
  )
  let best = Number.POSITIVE_INFINITY
  return bySize.filter((i) => {
    const { falsePositiveRate } = contenders[i]!
    if (falsePositiveRate >= best) return false
    best = falsePositiveRate
    return true
  })
}

function minBy(among: readonly number[], first: (i: number) => number, second: (i: number) => number): number {
  return among.reduce((a, b) => (first(b) < first(a) || (first(b) === first(a) && second(b) < second(a)) ? b : a))
}
