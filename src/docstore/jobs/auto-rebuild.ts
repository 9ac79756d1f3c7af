/**
 * Rebuilds a collection's index automatically: when many of its documents are dead, or when equality queries meet far
 * more false positives than its parameters predict.
 *
 * Invariants:
 * 1. One rebuild at a time, and none alongside an explicit rebuild(), which aborts an automatic one first.
 * 2. Rebuilding takes at most a tenth of the time: after a rebuild comes a rest nine times as long as it took.
 * 3. A rebuild that did not help is not repeated for the same reason: the excess of false positives has to double
 *    first.
 * 4. Nothing waits for it, and it reports failures only through stats().
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

/** State of automatic index rebuilds. */
export interface AutoRebuildStats {
  /** False when turned off, or when the index has nothing to rebuild. */
  readonly isOn: boolean
  /** Reason for the running rebuild. */
  readonly running: RebuildReason | undefined
  /** Successful rebuilds since the collection was opened. */
  readonly rebuilds: number
  readonly last: ({ readonly reason: RebuildReason } & RebuildResult) | undefined
  /** Error of the last failed rebuild; cleared by a successful one. */
  readonly error: string | undefined
  /** False positives of equality queries since the last rebuild, and how many the parameters predicted. */
  readonly falsePositives: number
  readonly predictedFalsePositives: number
}

/** The index being watched, and how to rebuild it. */
export interface RebuildTarget {
  stats(): IndexStats
  readonly segmentDocuments: number
  /** Resolves to undefined when an explicit rebuild is running, or has aborted this one. */
  rebuild(): Promise<RebuildResult | undefined>
}

/** For a collection whose index is never rebuilt automatically. */
export const neverRebuilt: AutoRebuildStats = {
  isOn: false,
  running: undefined,
  rebuilds: 0,
  last: undefined,
  error: undefined,
  falsePositives: 0,
  predictedFalsePositives: 0
}

/** Length of the rest after a rebuild, as a multiple of its duration. */
const cooldownFactor = 9
const cooldownAfterFailure = 60_000
const maxCooldown = 3_600_000

export class AutoRebuild {
  readonly #index: RebuildTarget
  readonly #deadShare: number
  #excess: number
  /**
   * Deletions since the index was last examined; initialised so that the first one after opening triggers an
   * examination.
   */
  #unseenDeletions = minDead
  #falsePositives = 0
  #predicted = 0
  /** Predicted false positives per equality query; recomputed after each rebuild. */
  #perEquality: number | undefined
  #running: RebuildReason | undefined
  #rebuilds = 0
  #failures = 0
  #last: AutoRebuildStats['last']
  #error: string | undefined
  #cooldown: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(index: RebuildTarget, options: AutoRebuildOptions) {
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

  /** Documents were deleted or replaced, and the index has been updated. */
  noteDeletions(count: number): void {
    this.#unseenDeletions += count
    if (this.#unseenDeletions >= minDead) this.#rebuildIfDue()
  }

  /**
   * Called when a read has run to its end. Only equalities are counted, because their false positives can be predicted.
   */
  noteRead({ plan, limit }: CompiledFind, meter: Meter): void {
    if (plan.kind !== 'index' || plan.bounds.kind !== 'pair' || limit !== Number.POSITIVE_INFINITY) return
    if (meter.access !== undefined || this.#isClosed) return
    this.#perEquality ??= predictedFalsePositives(this.#index.stats())
    this.#falsePositives += meter.falsePositives
    this.#predicted += this.#perEquality
    if (this.#falsePositives >= minObserved && this.#falsePositives > this.#excess * this.#predicted)
      this.#rebuildIfDue()
  }

  /** Nothing is started from now on. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#cooldown)
  }

  #rebuildIfDue(): void {
    if (this.#isClosed || this.#running !== undefined || this.#cooldown !== undefined) return
    this.#unseenDeletions = 0
    const { documents, dead } = this.#index.stats()
    const observed = { falsePositives: this.#falsePositives, predicted: this.#predicted }
    const limits: RebuildLimits = { deadShare: this.#deadShare, excess: this.#excess }
    // Ignores small segments: those that a rebuild leaves small would be a reason forever.
    const reason = rebuildReason({ documents, dead, parameters: [] }, this.#index.segmentDocuments, observed, limits)
    if (reason !== undefined) this.#rebuild(reason)
  }

  #rebuild(reason: RebuildReason): void {
    this.#running = reason
    // The false positives may be due to unusual documents: the same excess again is no reason for another rebuild.
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
    this.#coolDown(cooldownFactor * result.milliseconds)
  }

  #fail(error: unknown): void {
    this.#running = undefined
    if (this.#isClosed) return
    const known = fromStore(error)
    this.#error = known instanceof Error ? known.message : String(known)
    this.#coolDown(Math.min(maxCooldown, cooldownAfterFailure * 2 ** this.#failures++))
  }

  /** Looks again after the rest: the deletions made meanwhile may be the last for a long time. */
  #coolDown(milliseconds: number): void {
    if (this.#isClosed) return
    this.#cooldown = setTimeout(() => {
      this.#cooldown = undefined
      this.#rebuildIfDue()
    }, milliseconds)
    // Node's timers keep a process alive unless unref'ed; a browser's have no such method.
    ;(this.#cooldown as { unref?: () => unknown }).unref?.()
  }
}
