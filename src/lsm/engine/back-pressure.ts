/**
 * How fast writers may go, given how far flushes and compactions lag behind. Policy only: no clock, no waiting.
 *
 * Writers are slowed down before they have to be stopped: many short waits instead of one long one.
 */

export interface WriteLoad {
  /** Frozen memtables that are not in tables yet. */
  readonly pendingMemtables: number
  /** Sorted runs in level 0 of the partition that has most of them. */
  readonly level0Runs: number
  /** Recent flush throughput in bytes per millisecond; Infinity before the first flush. */
  readonly flushRate: number
}

export interface PressureLimits {
  readonly maxPendingMemtables: number
  readonly level0SlowdownTrigger: number
  readonly level0StopTrigger: number
}

/** Bytes per millisecond at the slowdown trigger: roughly what compaction can absorb. */
const fullRate = 64 * 1024
/** Bytes per millisecond just below the stop trigger. */
const lowestRate = 2 * 1024

/** Whether a full memtable may be frozen and replaced now. */
export function mayRotate(load: WriteLoad, limits: PressureLimits): boolean {
  return load.pendingMemtables < limits.maxPendingMemtables && load.level0Runs < limits.level0StopTrigger
}

/**
 * Bytes per millisecond that writers may write; Infinity while nothing lags behind. If the next full memtable could
 * not be frozen at once, writers are held to the flush rate so that it will not have to wait.
 */
export function writeRate(load: WriteLoad, limits: PressureLimits): number {
  const { level0SlowdownTrigger: slowdown, level0StopTrigger: stop, maxPendingMemtables } = limits
  const flushed = load.pendingMemtables < maxPendingMemtables ? Number.POSITIVE_INFINITY : load.flushRate
  if (load.level0Runs < slowdown) return flushed
  const room = Math.max(0, stop - load.level0Runs) / Math.max(1, stop - slowdown)
  return Math.min(flushed, Math.max(lowestRate, fullRate * room * room))
}

/** Weight of the newest flush in the moving average. */
const newestShare = 0.3

/** The flush rate after one more flush. */
export function nextFlushRate(rate: number, bytes: number, milliseconds: number): number {
  const newest = bytes / Math.max(0.1, milliseconds)
  return rate === Number.POSITIVE_INFINITY ? newest : rate + newestShare * (newest - rate)
}

/** Shorter delays, in milliseconds, accumulate until a timer can express them: its resolution is one millisecond. */
const shortestDelay = 1
/** Unused time credited to writers, in milliseconds: makes up for late timers. */
const credit = 5

/**
 * Spreads writes over time.
 *
 * Invariant: over any stretch in which the rate is finite, at most rate × time bytes are let through, apart from an
 * overdraft of a few milliseconds.
 */
export class WritePacer {
  /** When the bytes let through so far will be paid for, in milliseconds of the caller's clock. */
  #paidAt = 0

  /** @returns milliseconds to wait before `bytes` may be written, 0 for none */
  delay(bytes: number, rate: number, now: number): number {
    if (rate === Number.POSITIVE_INFINITY) {
      this.#paidAt = 0
      return 0
    }
    this.#paidAt = Math.max(this.#paidAt, now - credit) + bytes / rate
    const owed = this.#paidAt - now
    return owed < shortestDelay ? 0 : owed
  }
}
