/**
 * Schedules several jobs in one thread: flushes before compactions, in order of arrival; small compactions before
 * large ones.
 *
 * A job yields the thread every few milliseconds and resumes when no waiting job is more urgent. So a flush that
 * arrives during a long compaction runs at once, and writers need not wait. While a job waits for the device, others
 * run.
 */

/** How a running job shares its thread. */
export interface Pace {
  /**
   * To be called every 100 µs or so. Pauses the job when others are due; throws LEVEL_ABORTED if the job was
   * cancelled.
   */
  yieldIfDue(): Promise<void> | undefined
  /** Waits for the device while letting other jobs run. */
  waitFor<T>(waiting: Promise<T>): Promise<T>
}

/** For a job that has its thread to itself. */
export const unpaced: Pace = { yieldIfDue: () => undefined, waitFor: (waiting) => waiting }

interface Job {
  readonly isFlush: boolean
  /** Ascends in order of arrival. */
  readonly number: number
  /** Bytes to be read. */
  readonly bytes: number
  /** Set while the job is paused. */
  resume: (() => void) | undefined
}

export class JobQueue {
  readonly #sliceTime: number
  /** Jobs that are running or paused. */
  readonly #jobs = new Set<Job>()
  #mostUrgent: Job | undefined
  #lastNumber = 0

  /** @param sliceTime milliseconds of work before yielding to the event loop */
  constructor(sliceTime: number) {
    this.#sliceTime = sliceTime
  }

  /** @param checkAborted throws if the job was cancelled */
  async run<T>(
    isFlush: boolean,
    bytes: number,
    checkAborted: () => void,
    work: (pace: Pace) => Promise<T>
  ): Promise<T> {
    const job: Job = { isFlush, number: ++this.#lastNumber, bytes, resume: undefined }
    this.#jobs.add(job)
    this.#choose()
    try {
      return await work(this.#paceOf(job, checkAborted))
    } finally {
      this.#jobs.delete(job)
      this.#choose()
    }
  }

  #paceOf(job: Job, checkAborted: () => void): Pace {
    let sliceEnd = performance.now() + this.#sliceTime
    const pause = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      while (this.#mostUrgent !== job) await new Promise<void>((resume) => Object.assign(job, { resume }))
      checkAborted()
      sliceEnd = performance.now() + this.#sliceTime
    }
    return {
      yieldIfDue: () => {
        checkAborted()
        return this.#mostUrgent === job && performance.now() < sliceEnd ? undefined : pause()
      },
      waitFor: async (waiting) => {
        this.#jobs.delete(job)
        this.#choose()
        try {
          return await waiting
        } finally {
          this.#jobs.add(job)
          this.#choose()
        }
      }
    }
  }

  #choose(): void {
    let best: Job | undefined
    for (const job of this.#jobs) if (best === undefined || isMoreUrgent(job, best)) best = job
    this.#mostUrgent = best
    const resume = best?.resume
    if (best === undefined || resume === undefined) return
    best.resume = undefined
    resume()
  }
}

function isMoreUrgent(a: Job, b: Job): boolean {
  if (a.isFlush !== b.isFlush) return a.isFlush
  const fewerBytes = a.isFlush ? 0 : a.bytes - b.bytes
  return fewerBytes < 0 || (fewerBytes === 0 && a.number < b.number)
}
