/** The pools of threads that build units of bulk loads and segments of indexes; a kind each, which decides the priority. */
import { errorFromData } from '../../lsm/compaction/job-errors.ts'
import { startThread } from '../../lsm/start-thread.ts'
import { type PooledThread, ThreadPool } from './thread-pool.ts'
import type { FollowedWork, ThreadMessage, ThreadReply, ThreadWork, WorkKind } from './thread-work.ts'

/** Shared by the process. */
const pools: Record<WorkKind, ThreadPool<ThreadMessage, ThreadReply>> = {
  unit: poolOf('unit'),
  segment: poolOf('segment')
}

function poolOf(kind: WorkKind): ThreadPool<ThreadMessage, ThreadReply> {
  return new ThreadPool(() => startThread(import.meta.url, 'build-thread', { isIsolated: true, workerData: kind }))
}

/**
 * @returns undefined if the work has to be done in this thread
 * @throws Error if the thread dies, or what it throws, as LEVEL_* errors or an Error
 */
export async function buildInThread<K extends WorkKind>(
  kind: K,
  request: ThreadWork[K]['request'],
  following: FollowedWork = {}
): Promise<ThreadWork[K]['result'] | undefined> {
  const thread = pools[kind].take()
  const reply = await build(thread, { kind, request } as ThreadMessage, following)
  pools[kind].putBack(thread)
  if (reply.kind === 'failed') throw errorFromData(reply.error)
  return reply.result as ThreadWork[K]['result'] | undefined
}

async function build(
  thread: PooledThread<ThreadMessage, ThreadReply>,
  message: ThreadMessage,
  { signal, onProgress, transfer }: FollowedWork
) {
  const abort = (): void => thread.tell({ kind: 'abort' })
  signal?.addEventListener('abort', abort)
  try {
    return await thread.request(message, transfer, ({ documents }) => onProgress?.(documents))
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}
