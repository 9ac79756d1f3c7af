/**
 * How fast writers may go, given how far flushes and compactions are behind. Policy only: no clock, no waiting.
 *
 * Writers are slowed down before they have to be stopped: many short waits instead of one long one.
 */

export interface WriteLoad {
  /** Full memtables that are not in tables yet. */
  readonly pendingMemtables: number
  /** Tables in level 0 of the partition that has most of them. */
  readonly level0Tables: number
  /** Bytes per millisecond that the last flushes wrote out; Infinity before the first. */
  readonly flushRate: number
}

export interface PressureLimits {
  readonly maxPendingMemtables: number
  readonly level0SlowdownTrigger: number
  readonly level0StopTrigger: number
}

/** Bytes per millisecond at the slowdown trigger: what a compaction can roughly take in. */
const fullRate = 64 * 1024
/** Bytes per millisecond just below the stop trigger. */
const lowestRate = 2 * 1024

/** Whether a full memtable may be set aside for a new one now. */
export function mayRotate(load: WriteLoad, limits: PressureLimits): boolean {
  return load.pendingMemtables < limits.maxPendingMemtables && load.level0Tables < limits.level0StopTrigger
}

/**
 * Bytes per millisecond that writers may write; Infinity while nothing is behind. When the next full memtable would
 * have to wait, they write as fast as memtables are written out, so that it need not.
 */
export function writeRate(load: WriteLoad, limits: PressureLimits): number {
  const { level0SlowdownTrigger: slowdown, level0StopTrigger: stop, maxPendingMemtables } = limits
  const flushed = load.pendingMemtables < maxPendingMemtables ? Number.POSITIVE_INFINITY : load.flushRate
  if (load.level0Tables < slowdown) return flushed
  const room = Math.max(0, stop - load.level0Tables) / Math.max(1, stop - slowdown)
  return Math.min(flushed, Math.max(lowestRate, fullRate * room * room))
}

/** How much the newest flush counts. */
const newestShare = 0.3

/** The flush rate after one more flush. */
export function nextFlushRate(rate: number, bytes: number, milliseconds: number): number {
  const newest = bytes / Math.max(0.1, milliseconds)
  return rate === Number.POSITIVE_INFINITY ? newest : rate + newestShare * (newest - rate)
}

/** Shorter delays than this are saved up: a timer cannot do less than a millisecond. */
const shortestDelay = 1
/** Milliseconds of unused time that count: timers are late, and what they are late by is not lost. */
const credit = 5

/**
 * Spreads writes over time.
 *
 * Invariant: over any stretch in which the rate is finite, no more than rate × time bytes are let through, save
 * for what a few milliseconds overdraw.
 */
export class WritePacer {
  /** When the bytes let through so far are paid for, in milliseconds of the caller's clock. */
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
