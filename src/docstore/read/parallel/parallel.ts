/** Whether a read gets the help of threads (docs/architecture.md). */
import type { DividedStages } from '../../../aggregate/divide.ts'
import type { DivisibleStages, PartialCollector } from '../../../aggregate/stage.ts'
import type { Document } from '../../../model/types.ts'
import { isScanThreadFree } from '../../threads/scan-threads.ts'
import type { Confirmer } from '../confirmer.ts'
import type { Execution } from '../execution.ts'
import type { First } from './decider.ts'
import type { PortableTask } from './messages.ts'
import { ParallelScan } from './parallel-scan.ts'
import type { Part } from './parts.ts'
import { collectTask, type Deciding, findTask, portableRead } from './portable-read.ts'

/** What threads need to know of a read. */
export interface Parallel {
  readonly deciding: Deciding
  /** The order of which only the first matches are wanted, if so. */
  readonly first: First | undefined
  /** What a pipeline does with the matches, if that can be done to parts of them. */
  readonly collected: Collected | undefined
}

export interface Collected {
  readonly pipeline: DivisibleStages['pipeline']
  /** What the stages get of a match; undefined for all. */
  readonly project: ((document: Document) => Document) | undefined
  /** Begins with a part. */
  readonly begin: () => DividedStages
  /** Takes the matches that this thread finds, and the results of parts. */
  readonly collector: PartialCollector
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
/** The fraction of documents that begin a group of their own, of which each part has its own, too. */
const maxGroups = 1 / 16

/** What this thread has done of a read so far. */
export interface Progress {
  readonly confirmer: Confirmer
  readonly isCounting: boolean
  /** The part confirmed last. */
  readonly part: Part
  /** Milliseconds for all parts, and for each candidate of the last one. */
  readonly spent: number
  readonly perCandidate: number
}

/** Begins a scan by threads if it saves time. */
export function beginParallel({ view, parallel, meter }: Execution, progress: Progress): ParallelScan | undefined {
  const { confirmer, isCounting, part, spent, perCandidate } = progress
  if (parallel === undefined || !part.isDense || spent < minSpent) return undefined
  if (!isSelective(parallel, confirmer) && !isCounting) return undefined
  const left = Math.min(candidatesLeft(view.limit, part), confirmer.expectedCandidates)
  if (left * perCandidate < minLeft) return undefined
  if (!isScanThreadFree(view.scanThreads)) return undefined
  const read = portableRead(parallel.deciding, taskOf(parallel))
  const scan = read && ParallelScan.begin(view, read)
  if (scan !== undefined) meter.threads = scan.threads
  return scan
}

/** Whether threads return much less than they read. */
function isSelective({ first, collected }: Parallel, confirmer: Confirmer): boolean {
  if (collected !== undefined) return collected.collector.size <= maxGroups * confirmer.examined
  return first === undefined ? confirmer.matchShare <= maxShare : first.wanted <= maxFirst
}

function taskOf({ deciding, first, collected }: Parallel): PortableTask | undefined {
  return collected === undefined ? findTask(deciding.filter, first) : collectTask(collected.pipeline)
}

/** Estimated from the last part. */
function candidatesLeft(limit: number, { candidates, range: { from, to, reverse } }: Part): number {
  return ((reverse ? from : limit - to) * candidates.count) / (to - from)
}
