/** Whether a read gets the help of threads (docs/architecture.md). */
import type { Confirmer } from '../confirmer.ts'
import type { Execution } from '../execution.ts'
import type { First } from './decider.ts'
import { ParallelScan } from './parallel-scan.ts'
import type { Part } from './parts.ts'
import { type Deciding, portableFind } from './portable-find.ts'

/** What threads need to know of a read. */
export interface Parallel {
  readonly deciding: Deciding
  /** The order of which only the first matches are wanted, if so. */
  readonly first: First | undefined
}

/** Candidates that this thread confirms first: they show how many of them match. */
const minConfirmed = 16_384
/** A thread takes 0.1 s to start, in which about as many tweets are read. */
const minLeft = 100_000
/**
 * Documents of matches that a thread found are read again, by key, which takes ten times as long as reading one in a
 * scan.
 */
const maxShare = 1 / 32
/** Each thread may return as many matches. */
const maxFirst = 1000

/**
 * Begins a scan by threads if it saves time.
 * @param part the last one that was confirmed
 */
export function beginParallel(
  { view, parallel, meter }: Execution,
  confirmer: Confirmer,
  part: Part,
  isCounting: boolean
): ParallelScan | undefined {
  if (parallel === undefined || !part.isDense || confirmer.examined < minConfirmed) return undefined
  const { deciding, first } = parallel
  const isWorthIt = first === undefined ? isCounting || confirmer.matchShare <= maxShare : first.wanted <= maxFirst
  if (!isWorthIt || Math.min(candidatesLeft(view.limit, part), confirmer.expectedCandidates) < minLeft) return undefined
  const find = portableFind(deciding)
  const scan = find && ParallelScan.begin(view, find, first?.wanted)
  if (scan !== undefined) meter.threads = scan.threads
  return scan
}

/** Estimated from the last part. */
function candidatesLeft(limit: number, { candidates, range: { from, to, reverse } }: Part): number {
  return ((reverse ? from : limit - to) * candidates.count) / (to - from)
}
