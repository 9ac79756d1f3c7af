/** Decides which candidates of a part match, without returning their documents: in any thread. */
import type { CompiledFilter } from '../../../query/filter.ts'
import { type CompiledSort, TopK } from '../../../query/sort.ts'
import { type Candidates, candidatesOfOrdinals } from '../candidates.ts'
import { confirmByScan, type Scanning } from '../confirm-by-scan.ts'
import { Confirmer, type Match } from '../confirmer.ts'
import { Meter } from '../meter.ts'
import { forEachStep, type Waiting } from '../steps.ts'
import type { DecidedPart, PartCosts, PartRequest } from './messages.ts'

/** The first matches of an order. */
export interface First {
  readonly sort: CompiledSort
  readonly wanted: number
}

/** Takes parts in any order. */
export class Decider {
  readonly #scanning: Scanning
  readonly #filter: CompiledFilter
  /** The first matches of all parts; a match that is not among them need not be returned. */
  readonly #first: TopK<number> | undefined

  constructor(scanning: Scanning, filter: CompiledFilter, first: First | undefined) {
    this.#scanning = scanning
    this.#filter = filter
    this.#first = first && new TopK(first.sort, first.wanted)
  }

  *decide(request: PartRequest): Waiting<DecidedPart> {
    const meter = new Meter()
    const candidates = candidatesOf(request)
    const confirmer = new Confirmer(this.#filter, meter, Number.POSITIVE_INFINITY, true)
    const found: number[] = []
    const first = this.#first
    const visit = (matches: readonly Match[]): void => {
      for (const { ordinal, document, characters } of matches) {
        if (first === undefined || first.push(document, ordinal, characters, ordinal)) found.push(ordinal)
      }
    }
    const range = { from: request.from, to: request.to, reverse: false }
    yield* forEachStep(confirmByScan(this.#scanning, confirmer, candidates, range), visit)
    visit(confirmer.take())
    return { ordinals: Float64Array.from(this.#stillFirst(found)), costs: costsOf(meter) }
  }

  /** Drops those that later ones of the same part have displaced. */
  #stillFirst(found: readonly number[]): readonly number[] {
    if (this.#first === undefined || found.length === 0) return found
    const first = new Set(this.#first.toArray())
    return found.filter((ordinal) => first.has(ordinal))
  }
}

function candidatesOf({ from, to, ordinals, isCertain }: PartRequest): Candidates {
  if (ordinals !== undefined) return candidatesOfOrdinals(ordinals, isCertain)
  return { count: to - from, ordinal: (i) => from + i, isCertain: () => isCertain }
}

function costsOf({ documentsFetched, tested, confirmed }: Meter): PartCosts {
  return { documentsFetched, tested, confirmed }
}
