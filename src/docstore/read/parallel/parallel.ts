/** When a read gets the help of threads (docs/parallel-scans.md). */
import type { PartialCollector } from '../../../aggregate/stage.ts'
import { isScanThreadFree } from '../../threads/scan-threads.ts'
import type { Confirmer } from '../confirmer.ts'
import type { Execution } from '../execution.ts'
import { type Confirming, confirmPart } from './confirm-part.ts'
import type { First, PartCollector } from './decider.ts'
import type { PortableRead, PortableTask } from './messages.ts'
import { ParallelScan } from './parallel-scan.ts'
import type { Part, Parts } from './parts.ts'
import { type Deciding, findTask, portableRead } from './portable-read.ts'
import { Stopwatch } from './stopwatch.ts'

/** What threads need to know of a read. */
export interface Parallel {
  readonly deciding: Deciding
  /** The order of which only the first matches are wanted, if so. */
  readonly first: First | undefined
  /** What is done with the matches, if that can be done to parts of them. */
  readonly collected: Collected | undefined
}

export interface Collected {
  /** What threads are asked to do; undefined if that cannot be described to them. */
  readonly task: () => PortableTask | undefined
  /** Begins with a part. */
  readonly begin: () => PartCollector
  /** Takes the matches that this thread finds, and the results of parts. */
  readonly collector: Pick<PartialCollector, 'size' | 'merge'>
  /** With more results than this for each document, copying and merging those of parts takes longer than they save. */
  readonly maxResults: number
}

/** Milliseconds that this thread works first, which show how many candidates match, and how long one takes. */
const minSpent = 30
/** Milliseconds of work that must be left: a thread takes about half as long to start. */
const minLeft = 200
/**
 * Documents of matches that a thread found are read again, by key, which takes ten times as long as reading one in a
 * scan.
 */
const maxShare = 1 / 32
/** Each thread may return as many matches. */
const maxFirst = 1000

/** Confirms parts of a read in this thread, until threads begin to help because that saves time. */
export class Beginning {
  readonly #execution: Execution
  readonly #parallel: Parallel
  readonly #confirmer: Confirmer
  readonly #isCounting: boolean
  readonly #watch = new Stopwatch()
  /** null if the read cannot be described to threads. */
  #read: PortableRead | null | undefined

  constructor(execution: Execution, parallel: Parallel, confirmer: Confirmer, isCounting: boolean) {
    this.#execution = execution
    this.#parallel = parallel
    this.#confirmer = confirmer
    this.#isCounting = isCounting
  }

  /** Confirms a part, and makes the next ones as long as they should be. */
  *confirm(part: Part, parts: Parts): Confirming<ParallelScan | undefined> {
    const before = this.#watch.milliseconds
    yield* this.#watch.time(confirmPart(this.#execution, this.#confirmer, part))
    const perCandidate = (this.#watch.milliseconds - before) / part.candidates.count
    parts.adapt(perCandidate)
    return this.#isWorthIt(part, perCandidate) ? this.#begin() : undefined
  }

  #isWorthIt(part: Part, perCandidate: number): boolean {
    const { view } = this.#execution
    if (this.#watch.milliseconds < minSpent || !isScanThreadFree(view.scanThreads)) return false
    if (!this.#isCounting && !isSelective(this.#parallel, this.#confirmer)) return false
    const left = Math.min(candidatesLeft(view.limit, part), this.#confirmer.expectedCandidates)
    return left * perCandidate >= minLeft
  }

  #begin(): ParallelScan | undefined {
    const { view, meter, control } = this.#execution
    const { remainingMilliseconds } = control
    this.#read ??= portableRead(this.#parallel.deciding, taskOf(this.#parallel), remainingMilliseconds) ?? null
    if (this.#read === null) return undefined
    const scan = ParallelScan.begin(view, this.#read)
    if (scan !== undefined) meter.threads = scan.threads
    return scan
  }
}

/** Whether threads return much less than they read. */
function isSelective({ first, collected }: Parallel, confirmer: Confirmer): boolean {
  if (collected !== undefined) return collected.collector.size <= collected.maxResults * confirmer.examined
  return first === undefined ? confirmer.matchShare <= maxShare : first.wanted <= maxFirst
}

function taskOf({ deciding, first, collected }: Parallel): PortableTask | undefined {
  return collected === undefined ? findTask(deciding.filter, first) : collected.task()
}

/** Estimated from the last part. */
function candidatesLeft(limit: number, { candidates, range: { from, to, reverse } }: Part): number {
  return ((reverse ? from : limit - to) * candidates.count) / (to - from)
}
