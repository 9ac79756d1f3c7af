/**
 * Runs jobs in a worker thread, one per process, shared by all databases.
 *
 * Invariants:
 * 1. The thread starts with the first job, and keeps the process alive only while a job runs.
 * 2. Every job is answered once: by a result, by its error, or by LEVEL_IO_ERROR when the thread dies. The next job
 *    then starts a new thread.
 */
import { Worker } from 'node:worker_threads'
import { aborted, ioError } from '../errors.ts'
import { isSource, siblingModule } from '../sibling-module.ts'
import type { JobRunner, TableJob, TableJobResult } from './job.ts'
import { errorFromData } from './job-errors.ts'
import { type JobReply, type JobRequest, postable } from './job-message.ts'

interface PendingJob {
  resolve(result: TableJobResult): void
  reject(error: unknown): void
}

class WorkerRunner implements JobRunner {
  #worker: Worker | undefined
  readonly #pending = new Map<number, PendingJob>()
  #lastId = 0

  async run(job: TableJob, signal?: AbortSignal): Promise<TableJobResult> {
    if (signal?.aborted) throw aborted(signal.reason)
    const request: JobRequest = {
      id: ++this.#lastId,
      job: postable(job),
      abort: new Int32Array(new SharedArrayBuffer(4))
    }
    const abort = () => Atomics.store(request.abort, 0, 1)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      return await this.#send(request)
    } catch (error) {
      // The thread knows that it was aborted, not why.
      throw signal?.aborted ? aborted(signal.reason) : error
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  #send(request: JobRequest): Promise<TableJobResult> {
    return new Promise((resolve, reject) => {
      const worker = this.#worker ?? this.#start()
      // May throw for options of an extractor that cannot be cloned: nothing is pending then.
      worker.postMessage(request)
      this.#pending.set(request.id, { resolve, reject })
      worker.ref()
    })
  }

  #start(): Worker {
    const worker = startWorker()
    this.#worker = worker
    let cause: unknown
    worker.on('message', (reply: JobReply) => {
      const job = this.#pending.get(reply.id)
      this.#pending.delete(reply.id)
      if (this.#pending.size === 0) worker.unref()
      if ('error' in reply) job?.reject(errorFromData(reply.error))
      else job?.resolve(reply.result)
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', (code) => {
      if (this.#worker === worker) this.#worker = undefined
      const jobs = [...this.#pending.values()]
      this.#pending.clear()
      for (const job of jobs) job.reject(ioError('The compaction thread has ended', cause ?? `exit code ${code}`))
    })
    worker.unref()
    return worker
  }

  /** For tests: the thread dies as if it had crashed. */
  async terminate(): Promise<void> {
    await this.#worker?.terminate()
  }
}

/** The process's one compaction thread. */
export const workerRunner = new WorkerRunner()

/** Sources that were not compiled need the loader that runs them here, in the thread, too. */
function startWorker(): Worker {
  const worker = siblingModule(import.meta.url, 'worker')
  if (!isSource(worker)) return new Worker(new URL(worker))
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const program = `import(${tsx}).then(({ register }) => { register(); return import(${JSON.stringify(worker)}) })`
  return new Worker(program, { eval: true })
}
