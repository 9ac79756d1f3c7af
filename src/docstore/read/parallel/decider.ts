/** Decides which candidates of a part match, and what becomes of them: in any thread. */
import type { Document } from '../../../model/types.ts'
import type { CompiledFilter } from '../../../query/filter.ts'
import { type CompiledSort, TopK } from '../../../query/sort.ts'
import { type Candidates, candidatesOfOrdinals } from '../candidates.ts'
import { confirmByScan, type Scanning } from '../confirm-by-scan.ts'
import { Confirmer, type Match } from '../confirmer.ts'
import { Meter } from '../meter.ts'
import { forEachStep, type Waiting } from '../steps.ts'
import type { DecidedPart, PartRequest, PartResult } from './messages.ts'

/** What becomes of the matches of a part. */
interface Gathering {
  add(match: Match): void
  result(): PartResult
}

/** Takes parts in any order. */
export class Decider {
  readonly #scanning: Scanning
  readonly #filter: CompiledFilter
  readonly #begin: () => Gathering

  /** @param begin begins with a part */
  constructor(scanning: Scanning, filter: CompiledFilter, begin: () => Gathering) {
    this.#scanning = scanning
    this.#filter = filter
    this.#begin = begin
  }

  *decide(request: PartRequest): Waiting<DecidedPart> {
    const meter = new Meter()
    const confirmer = new Confirmer(this.#filter, meter, Number.POSITIVE_INFINITY, true)
    const gathering = this.#begin()
    const visit = (matches: readonly Match[]): void => {
      for (const match of matches) gathering.add(match)
    }
    const range = { from: request.from, to: request.to, reverse: false }
    yield* forEachStep(confirmByScan(this.#scanning, confirmer, candidatesOf(request), range), visit)
    visit(confirmer.take())
    const { documentsFetched, tested, confirmed } = meter
    return { result: gathering.result(), costs: { documentsFetched, tested, confirmed } }
  }
}

function candidatesOf({ from, to, ordinals, isCertain }: PartRequest): Candidates {
  if (ordinals !== undefined) return candidatesOfOrdinals(ordinals, isCertain)
  return { count: to - from, ordinal: (i) => from + i, isCertain: () => isCertain }
}

/** The first matches of an order. */
export interface First {
  readonly sort: CompiledSort
  readonly wanted: number
}

/** Returns what finds matches, or those that are among the first of all parts so far. */
export function finding(first: First | undefined): () => Gathering {
  const top = first && new TopK<number>(first.sort, first.wanted)
  return () => new Finding(top)
}

class Finding implements Gathering {
  readonly #top: TopK<number> | undefined
  readonly #ordinals: number[] = []

  constructor(top: TopK<number> | undefined) {
    this.#top = top
  }

  add({ ordinal, document, characters }: Match): void {
    if (this.#top === undefined || this.#top.push(document, ordinal, characters, ordinal)) this.#ordinals.push(ordinal)
  }

  result(): PartResult {
    return { kind: 'found', ordinals: Float64Array.from(this.#stillFirst()) }
  }

  /** Drops those that later ones of the same part have displaced. */
  #stillFirst(): readonly number[] {
    if (this.#top === undefined || this.#ordinals.length === 0) return this.#ordinals
    const first = new Set(this.#top.toArray())
    return this.#ordinals.filter((ordinal) => first.has(ordinal))
  }
}

/** Takes the documents of a part. */
export interface PartCollector {
  add(document: Document): void
  /** Returns what it has made of them, as data. */
  partial(): unknown
}

/** Returns what collects matches. @param begin begins with a part */
export function collecting(begin: () => PartCollector): () => Gathering {
  return () => {
    const collector = begin()
    return {
      add: ({ document }) => collector.add(document),
      result: () => ({ kind: 'collected', partial: collector.partial() })
    }
  }
}
