/**
 * The pool of threads that build units of bulk loads and segments of indexes.
 *
 * Invariants:
 * 1. A thread is started when work finds no idle one, and keeps the process alive only while it works. It ends after
 *    having been idle for a while.
 * 2. Every request is settled: by a result, or by an error if its thread dies.
 */
import type { Worker } from 'node:worker_threads'
import { errorFromData } from '../../lsm/compaction/job-errors.ts'
import { startThread } from '../../lsm/start-thread.ts'
import type { FollowedWork, ThreadMessage, ThreadReply, ThreadWork, WorkKind } from './thread-work.ts'

/** The next work then finds everything compiled, which costs a new thread a second of CPU time. */
const idleMilliseconds = 60_000

/** Shared by the process, by what they do, which decides their priority; the thread used last is reused first. */
const idle: Record<WorkKind, BuildThread[]> = { unit: [], segment: [] }

/**
 * @returns undefined if the work has to be done in this thread
 * @throws Error if the thread dies, or what it throws, as LEVEL_* errors or an Error
 */
export async function buildInThread<K extends WorkKind>(
  kind: K,
  request: ThreadWork[K]['request'],
  following: FollowedWork = {}
): Promise<ThreadWork[K]['result'] | undefined> {
  const thread = idle[kind].pop() ?? new BuildThread(kind)
  const reply = await thread.build({ kind, request } as ThreadMessage, following)
  thread.endWhenIdle()
  idle[kind].push(thread)
  if (reply.kind === 'failed') throw errorFromData(reply.error)
  return reply.result as ThreadWork[K]['result'] | undefined
}

type Ending = Exclude<ThreadReply, { kind: 'progress' }>

interface Pending {
  readonly onProgress: ((documents: number) => void) | undefined
  resolve(reply: Ending): void
  reject(error: unknown): void
}

class BuildThread {
  readonly #worker: Worker
  readonly #kind: WorkKind
  #pending: Pending | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(kind: WorkKind) {
    this.#kind = kind
    const worker = startThread(import.meta.url, 'build-thread', { isIsolated: true, workerData: kind })
    this.#worker = worker
    let cause: unknown
    worker.on('message', (reply: ThreadReply) => {
      if (reply.kind === 'progress') this.#pending?.onProgress?.(reply.documents)
      else this.#settle()?.resolve(reply)
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', (code) => {
      this.#leave()
      this.#settle()?.reject(cause ?? new Error(`A building thread exited with code ${code}`))
    })
    worker.unref()
  }

  /** REQUIRES: the thread is not building. */
  async build(message: ThreadMessage, { signal, onProgress, transfer = [] }: FollowedWork): Promise<Ending> {
    clearTimeout(this.#timer)
    const abort = (): void => this.#worker.postMessage({ kind: 'abort' } satisfies ThreadMessage)
    signal?.addEventListener('abort', abort)
    try {
      return await new Promise<Ending>((resolve, reject) => {
        this.#worker.postMessage(message, transfer)
        this.#pending = { onProgress, resolve, reject }
        this.#worker.ref()
      })
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Ends the thread once it has been idle for a while. */
  endWhenIdle(): void {
    this.#timer = setTimeout(() => {
      this.#leave()
      // The thread is idle, so there is nobody to notify.
      void this.#worker.terminate()
    }, idleMilliseconds)
    this.#timer.unref()
  }

  /** Nobody gets this thread any more. */
  #leave(): void {
    const threads = idle[this.#kind]
    const place = threads.indexOf(this)
    if (place >= 0) threads.splice(place, 1)
  }

  #settle(): Pending | undefined {
    const pending = this.#pending
    this.#pending = undefined
    this.#worker.unref()
    return pending
  }
}
