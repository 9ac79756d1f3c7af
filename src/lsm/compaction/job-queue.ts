/**
 * Several jobs in one thread: flushes before compactions, in the order they came; small compactions before large ones.
 *
 * A job gives the thread up every few milliseconds, and gets it back when none of those that want it is more urgent. So
 * a flush that arrives in the middle of a long compaction is done at once, and writers need not wait. While a job waits
 * for the device, others go on.
 */

/** How a running job shares its thread. */
export interface Pace {
  /**
   * To be called every 100 µs or so. Waits when the thread is due to others; throws LEVEL_ABORTED when the job is to
   * end.
   */
  breathe(): Promise<void> | undefined
  /** Waits for the device without keeping others from the thread. */
  during<T>(waiting: Promise<T>): Promise<T>
}

interface Job {
  readonly isFlush: boolean
  /** Ascends in the order the jobs came. */
  readonly number: number
  /** What is to be read. */
  readonly bytes: number
  /** Set while the job waits for its turn. */
  resume: (() => void) | undefined
}

export class JobQueue {
  readonly #sliceTime: number
  /** Jobs that run or wait for their turn. */
  readonly #jobs = new Set<Job>()
  #mostUrgent: Job | undefined
  #lastNumber = 0

  /** @param sliceTime milliseconds after which the event loop turns */
  constructor(sliceTime: number) {
    this.#sliceTime = sliceTime
  }

  /** @param checkAborted throws when the job is to end */
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
      breathe: () => {
        checkAborted()
        return this.#mostUrgent === job && performance.now() < sliceEnd ? undefined : pause()
      },
      during: async (waiting) => {
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
