/**
 * Runs jobs in a worker thread, one per process, shared by all databases.
 *
 * Invariants:
 * 1. The thread starts with the first job, and keeps the process alive only while a job runs. After a while without
 *    jobs it ends, which returns its heap and merge buffers to the system.
 * 2. Every job is settled exactly once: by a result, by its error, or by LEVEL_IO_ERROR if the thread dies. The next
 *    job then starts a new thread.
 */
import { aborted, ioError } from '../errors.ts'
import { assertThreadModule, startThread } from '../start-thread.ts'
import type { JobRunner, TableJob, TableJobResult } from './job.ts'
import { errorFromData } from './job-errors.ts'
import { type JobReply, type JobRequest, prepareForTransfer, transferList } from './job-message.ts'

/** Starting a thread takes some 40 ms of CPU time: too much after every pause of a writer. */
const idleMilliseconds = 10_000
/**
 * Jobs retain little: semi-spaces of 4 MiB instead of 16 take no more CPU time (measured), and wrappers of shared
 * memory, which keep alive what the main thread has released, are collected earlier.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 12 }

interface PendingJob {
  resolve(result: TableJobResult): void
  reject(error: unknown): void
}

export class WorkerRunner implements JobRunner {
  readonly #idleMilliseconds: number
  #thread: JobThread | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #lastId = 0

  /** @param idle milliseconds without a job after which the thread ends */
  constructor(idle = idleMilliseconds) {
    this.#idleMilliseconds = idle
  }

  /** Whether the thread is running. */
  get isStarted(): boolean {
    return this.#thread?.isAlive === true
  }

  async run(job: TableJob, signal?: AbortSignal): Promise<TableJobResult> {
    if (signal?.aborted) throw aborted(signal.reason)
    const request: JobRequest = {
      id: ++this.#lastId,
      job: prepareForTransfer(job),
      abort: new Int32Array(new SharedArrayBuffer(4))
    }
    const abort = () => Atomics.store(request.abort, 0, 1)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      return await this.#send(request)
    } catch (error) {
      // The thread knows that it was aborted, but not why.
      throw signal?.aborted ? aborted(signal.reason) : error
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  async #send(request: JobRequest): Promise<TableJobResult> {
    if (this.#thread?.isAlive !== true) this.#thread = new JobThread()
    const thread = this.#thread
    clearTimeout(this.#idleTimer)
    try {
      return await thread.run(request)
    } finally {
      if (thread === this.#thread && thread.isIdle) this.#endLater()
    }
  }

  #endLater(): void {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      const thread = this.#thread
      this.#thread = undefined
      // The thread is idle: nobody has to be notified.
      void thread?.terminate()
    }, this.#idleMilliseconds)
    this.#idleTimer.unref()
  }

  /** For tests: kills the thread as if it had crashed. */
  async terminate(): Promise<void> {
    await this.#thread?.terminate()
  }
}

/** A thread and its pending jobs. */
class JobThread {
  readonly #worker = startThread(import.meta.url, 'worker', { resourceLimits })
  readonly #pending = new Map<number, PendingJob>()
  isAlive = true

  constructor() {
    const worker = this.#worker
    let cause: unknown
    worker.on('message', (reply: JobReply) => {
      const job = this.#pending.get(reply.id)
      this.#pending.delete(reply.id)
      if (this.isIdle) worker.unref()
      if ('error' in reply) job?.reject(errorFromData(reply.error))
      else job?.resolve(reply.result)
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', (code) => {
      this.isAlive = false
      const jobs = [...this.#pending.values()]
      this.#pending.clear()
      for (const job of jobs)
        job.reject(ioError('The compaction thread exited unexpectedly', cause ?? `exit code ${code}`))
    })
    worker.unref()
  }

  get isIdle(): boolean {
    return this.#pending.size === 0
  }

  run(request: JobRequest): Promise<TableJobResult> {
    return new Promise((resolve, reject) => {
      // May throw if an extractor's options cannot be cloned: nothing is pending then.
      this.#worker.postMessage(request, transferList(request.job))
      this.#pending.set(request.id, { resolve, reject })
      this.#worker.ref()
    })
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate()
  }
}

/** @throws LEVEL_IO_ERROR if the thread's module is missing */
export function assertCanStart(): void {
  assertThreadModule(import.meta.url, 'worker')
}

/** The process's only compaction thread. */
export const workerRunner = new WorkerRunner()
