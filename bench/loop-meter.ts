/**
 * Measures how long work blocks the event loop: by the clock, as others have to wait, and in processor time of this
 * thread, which other processes do not lengthen.
 *
 * A timer of one millisecond fires as soon as possible; any further delay is the wait. Everything that runs in one turn
 * of the loop runs between two firings. (`monitorEventLoopDelay` does the same but cannot be paused: it counts the time
 * between disable() and enable() as a wait.)
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
  /** undefined if the system does not report a thread's processor time. */
  readonly processor: Quantiles | undefined
  /** Milliseconds by the clock, without pauses. */
  readonly duration: number
}

/** Milliseconds between firings. */
const resolution = 1

/** pause() and resume() exclude work that only the benchmark does. */
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

  /** Called last, so that reading the clocks is not counted. */
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

/** Returns the milliseconds that this thread has run; undefined if the system does not report them. */
export const threadProcessorTime = ((): (() => number) | undefined => {
  let file: number
  try {
    file = openSync('/proc/thread-self/schedstat', 'r')
  } catch {
    return undefined
  }
  const text = Buffer.alloc(128)
  return () => {
    // Makes the kernel update its account of this thread, which reading the file alone does not do.
    process.cpuUsage()
    return Number.parseInt(text.toString('latin1', 0, readSync(file, text, 0, text.length, 0)), 10) / 1e6
  }
})()
