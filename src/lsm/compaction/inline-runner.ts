/**
 * Runs jobs on this thread in slices, yielding to the event loop in between: for file systems that a worker thread
 * cannot access.
 */
import { aborted } from '../errors.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { bytesToRead, type JobRunner, type TableJob, type TableJobResult } from './job.ts'
import { JobQueue } from './job-queue.ts'
import { runTableJob } from './run-table-job.ts'

/** Milliseconds of work before yielding to the event loop. */
const sliceTime = 3

export class InlineRunner implements JobRunner {
  readonly #fileSystem: FileSystem
  readonly #queue = new JobQueue(sliceTime)

  constructor(fileSystem: FileSystem) {
    this.#fileSystem = fileSystem
  }

  async run(job: TableJob, signal?: AbortSignal): Promise<TableJobResult> {
    const checkAborted = () => {
      if (signal?.aborted) throw aborted(signal.reason)
    }
    checkAborted()
    return this.#queue.run(job.kind === 'flush', bytesToRead(job), checkAborted, (pace) =>
      runTableJob(job, this.#fileSystem, pace)
    )
  }
}
