/** The worker thread: runs the jobs it receives, several at a time, and replies to each with a result or an error. */
import { parentPort } from 'node:worker_threads'
import { aborted } from '../errors.ts'
import { nodeFileSystem } from '../fs/node-file-system.ts'
import { bytesToRead } from './job.ts'
import { errorToData } from './job-errors.ts'
import { type JobReply, type JobRequest, withOwnedKeys } from './job-message.ts'
import { JobQueue } from './job-queue.ts'
import { runTableJob } from './run-table-job.ts'

/** Milliseconds of work before reading messages: the longest that an arriving flush waits. */
const sliceTime = 5

const queue = new JobQueue(sliceTime)

async function handleRequest({ id, job, abort }: JobRequest): Promise<JobReply> {
  const checkAborted = () => {
    if (Atomics.load(abort, 0) !== 0) throw aborted(undefined)
  }
  try {
    const result = await queue.run(job.kind === 'flush', bytesToRead(job), checkAborted, (pace) =>
      runTableJob(job, nodeFileSystem, pace)
    )
    return { id, result: { ...result, tables: result.tables.map(withOwnedKeys) } }
  } catch (error) {
    return { id, error: errorToData(error) }
  }
}

parentPort?.on('message', async (request: JobRequest) => {
  parentPort?.postMessage(await handleRequest(request))
})
