/**
 * Runs jobs on this thread, in slices between which the event loop turns: for file systems that a worker thread cannot
 * reach.
 */
import { aborted } from '../errors.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { bytesToRead, type JobRunner, type TableJob, type TableJobResult } from './job.ts'
import { JobQueue } from './job-queue.ts'
import { runTableJob } from './run-table-job.ts'

/** Milliseconds after which the event loop turns. */
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
