/**
 * Builds a collection's index again by itself: when many of its documents are dead, or when equalities meet far more
 * false positives than its parameters promise.
 *
 * Invariants:
 * 1. One rebuild at a time, and none beside one that was asked for: that one ends an automatic one first.
 * 2. Rebuilding takes a tenth of the time at most: after each one it rests nine times as long as it took.
 * 3. A rebuild that did not help is not repeated for the same reason: false positives have to become twice as many.
 * 4. Nobody waits for it, and its failure is nobody's: stats() tells.
 */
import type { IndexStats } from '../../sharded-bloom/document-index.ts'
import {
  defaultLimits,
  minDead,
  minObserved,
  predictedFalsePositives,
  type RebuildLimits,
  type RebuildReason,
  rebuildReason
} from '../../sharded-bloom/rebuild/policy.ts'
import { fromStore } from '../errors.ts'
import type { AutoRebuildOptions } from '../options.ts'
import type { CompiledFind } from '../read/find.ts'
import type { Meter } from '../read/meter.ts'
import type { RebuildResult } from './rebuild-job.ts'

export interface AutoRebuildStats {
  /** False when it is turned off, or the index has nothing to build. */
  readonly isOn: boolean
  /** Why the one that is running was begun. */
  readonly running: RebuildReason | undefined
  /** Rebuilds that ended well since the collection was opened. */
  readonly rebuilds: number
  readonly last: ({ readonly reason: RebuildReason } & RebuildResult) | undefined
  /** Why the last one failed, unless one has ended well since. */
  readonly error: string | undefined
  /** Of equalities since the last rebuild, and how many the parameters promised. */
  readonly falsePositives: number
  readonly predictedFalsePositives: number
}

/** What is watched, and how it is built again. */
export interface RebuiltIndex {
  stats(): IndexStats
  readonly segmentDocuments: number
  /** undefined when a rebuild that was asked for is running, or has ended this one. */
  rebuild(): Promise<RebuildResult | undefined>
}

/** A collection whose index is never built again by itself. */
export const neverRebuilt: AutoRebuildStats = {
  isOn: false,
  running: undefined,
  rebuilds: 0,
  last: undefined,
  error: undefined,
  falsePositives: 0,
  predictedFalsePositives: 0
}

/** Rest after a rebuild, in times of what it took. */
const restFactor = 9
const restAfterFailure = 60_000
const longestRest = 3_600_000

export class AutoRebuild {
  readonly #index: RebuiltIndex
  readonly #deadShare: number
  #excess: number
  /** Deletions that the index has not been looked at after; the first one after opening is a reason to look. */
  #unseenDeletions = minDead
  #falsePositives = 0
  #predicted = 0
  /** What one equality is predicted to meet; computed again when enough was seen. */
  #perEquality: number | undefined
  #running: RebuildReason | undefined
  #rebuilds = 0
  #failures = 0
  #last: AutoRebuildStats['last']
  #error: string | undefined
  #rest: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(index: RebuiltIndex, options: AutoRebuildOptions) {
    this.#index = index
    this.#deadShare = options.deadShare ?? defaultLimits.deadShare
    this.#excess = options.excess ?? defaultLimits.excess
  }

  get stats(): AutoRebuildStats {
    return {
      isOn: true,
      running: this.#running,
      rebuilds: this.#rebuilds,
      last: this.#last,
      error: this.#error,
      falsePositives: this.#falsePositives,
      predictedFalsePositives: this.#predicted
    }
  }

  /** Documents were deleted or replaced, and the index knows. */
  noteDeletions(count: number): void {
    this.#unseenDeletions += count
    if (this.#unseenDeletions >= minDead) this.#look()
  }

  /** A read has run to its end. Equalities alone are counted: what they should meet is known. */
  noteRead({ plan, limit }: CompiledFind, meter: Meter): void {
    if (plan.kind !== 'index' || plan.bounds.kind !== 'pair' || limit !== Number.POSITIVE_INFINITY) return
    if (meter.access !== undefined || this.#isClosed) return
    this.#perEquality ??= predictedFalsePositives(this.#index.stats())
    this.#falsePositives += meter.falsePositives
    this.#predicted += this.#perEquality
    if (this.#falsePositives >= minObserved && this.#falsePositives > this.#excess * this.#predicted) this.#look()
  }

  /** Nothing begins any more. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#rest)
  }

  #look(): void {
    if (this.#isClosed || this.#running !== undefined || this.#rest !== undefined) return
    this.#unseenDeletions = 0
    const { documents, dead } = this.#index.stats()
    const observed = { falsePositives: this.#falsePositives, predicted: this.#predicted }
    const limits: RebuildLimits = { deadShare: this.#deadShare, excess: this.#excess }
    // Small segments that a rebuild leaves small would be a reason for ever.
    const reason = rebuildReason({ documents, dead, parameters: [] }, this.#index.segmentDocuments, observed, limits)
    if (reason !== undefined) this.#rebuild(reason)
  }

  #rebuild(reason: RebuildReason): void {
    this.#running = reason
    // What was seen may be due to documents that were like no others: the same again is no reason.
    if (reason === 'false positives') this.#excess = 2 * (this.#falsePositives / this.#predicted)
    this.#index.rebuild().then(
      (result) => this.#end(reason, result),
      (error: unknown) => this.#fail(error)
    )
  }

  #end(reason: RebuildReason, result: RebuildResult | undefined): void {
    this.#running = undefined
    this.#failures = 0
    this.#error = undefined
    this.#falsePositives = 0
    this.#predicted = 0
    this.#perEquality = undefined
    if (result === undefined) return
    this.#rebuilds++
    this.#last = { reason, ...result }
    this.#restFor(restFactor * result.milliseconds)
  }

  #fail(error: unknown): void {
    this.#running = undefined
    if (this.#isClosed) return
    const known = fromStore(error)
    this.#error = known instanceof Error ? known.message : String(known)
    this.#restFor(Math.min(longestRest, restAfterFailure * 2 ** this.#failures++))
  }

  /** Looks again afterwards: what was deleted meanwhile may be all that is deleted for a long time. */
  #restFor(milliseconds: number): void {
    if (this.#isClosed) return
    this.#rest = setTimeout(() => {
      this.#rest = undefined
      this.#look()
    }, milliseconds)
    // Node's timers keep a process alive unless told not to; a browser's have no such method.
    ;(this.#rest as { unref?: () => unknown }).unref?.()
  }
}
