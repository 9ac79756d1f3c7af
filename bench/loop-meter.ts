/**
 * How long one stretch of work keeps the event loop: by the clock, as everybody else waits, and by this thread's
 * processor time, which other processes on the machine do not lengthen.
 *
 * A timer of one millisecond fires as soon as it can; what is beyond that millisecond is the wait. Between two firings
 * lies all that ran in one turn of the loop. (`monitorEventLoopDelay` does the same, but cannot be halted: what lies
 * between disable() and enable() is a wait to it.)
 */
import { openSync, readSync } from 'node:fs'

/** Milliseconds. */
export interface Quantiles {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface LoopReport {
  readonly wait: Quantiles
  /** undefined where the system does not tell a thread's processor time. */
  readonly processor: Quantiles | undefined
  /** Milliseconds by the clock, pauses left out. */
  readonly duration: number
}

/** Milliseconds between firings. */
const resolution = 1

/** One phase may be cut into pieces, by pause() and resume(): for what only the benchmark does. */
export class LoopMeter {
  readonly #waits: number[] = []
  readonly #turns: number[] = []
  #timer: NodeJS.Timeout | undefined
  #resumed = 0
  #firedAt = 0
  #processorAt = 0
  #duration = 0

  resume(): void {
    this.#resumed = performance.now()
    this.#mark()
    this.#timer = setInterval(() => {
      this.#record()
      this.#mark()
    }, resolution)
  }

  pause(): void {
    clearInterval(this.#timer)
    this.#record()
    this.#duration += performance.now() - this.#resumed
  }

  report(): LoopReport {
    return {
      wait: quantiles(this.#waits),
      processor: threadProcessorTime && quantiles(this.#turns),
      duration: this.#duration
    }
  }

  /** Last of all, so that a look at the clocks is not counted. */
  #mark(): void {
    this.#firedAt = performance.now()
    this.#processorAt = threadProcessorTime?.() ?? 0
  }

  #record(): void {
    const processor = threadProcessorTime?.() ?? 0
    this.#turns.push(processor - this.#processorAt)
    this.#waits.push(Math.max(0, performance.now() - this.#firedAt - resolution))
  }
}

export function quantiles(samples: readonly number[]): Quantiles {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? NaN }
}

/** Milliseconds that this thread has run. */
export const threadProcessorTime = ((): (() => number) | undefined => {
  let file: number
  try {
    file = openSync('/proc/thread-self/schedstat', 'r')
  } catch {
    return undefined
  }
  const text = Buffer.alloc(128)
  return () => {
    // Brings the kernel's account of this thread up to now, which reading the file alone does not.
    process.cpuUsage()
    return Number.parseInt(text.toString('latin1', 0, readSync(file, text, 0, text.length, 0)), 10) / 1e6
  }
})()
