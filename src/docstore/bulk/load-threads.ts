/**
 * The pool of threads that build units of bulk loads.
 *
 * Invariants:
 * 1. A thread is started when a unit finds no idle one, and keeps the process alive only while it builds. It ends after
 *    having been idle for a while.
 * 2. Every request is settled: by a reply, or by an error if its thread dies.
 */
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../lsm/start-thread.ts'
import type { LoadReply, LoadRequest } from './load-unit.ts'

/** The next import then finds everything compiled, which costs a new thread a second of CPU time. */
const idleMilliseconds = 60_000

/** Shared by the process; the thread used last is reused first. */
const idle: LoadThread[] = []

/** @throws Error if the thread dies */
export async function buildInThread(request: LoadRequest): Promise<LoadReply> {
  const thread = idle.pop() ?? new LoadThread(forget)
  const reply = await thread.build(request)
  thread.endWhenIdle()
  idle.push(thread)
  return reply
}

function forget(thread: LoadThread): void {
  const place = idle.indexOf(thread)
  if (place >= 0) idle.splice(place, 1)
}

interface Pending {
  resolve(reply: LoadReply): void
  reject(error: unknown): void
}

class LoadThread {
  readonly #worker: Worker
  readonly #onEnd: (thread: LoadThread) => void
  #pending: Pending | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(onEnd: (thread: LoadThread) => void) {
    this.#onEnd = onEnd
    const worker = startThread(import.meta.url, 'load-thread', { isIsolated: true })
    this.#worker = worker
    let cause: unknown
    worker.on('message', (reply: LoadReply) => this.#settle()?.resolve(reply))
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', (code) => {
      onEnd(this)
      this.#settle()?.reject(cause ?? new Error(`A thread of an import exited with code ${code}`))
    })
    worker.unref()
  }

  /** REQUIRES: the thread is not building. */
  build(request: LoadRequest): Promise<LoadReply> {
    clearTimeout(this.#timer)
    return new Promise((resolve, reject) => {
      this.#worker.postMessage(request)
      this.#pending = { resolve, reject }
      this.#worker.ref()
    })
  }

  /** Ends the thread once it has been idle for a while. */
  endWhenIdle(): void {
    this.#timer = setTimeout(() => {
      this.#onEnd(this)
      // The thread is idle, so there is nobody to notify.
      void this.#worker.terminate()
    }, idleMilliseconds)
    this.#timer.unref()
  }

  #settle(): Pending | undefined {
    const pending = this.#pending
    this.#pending = undefined
    this.#worker.unref()
    return pending
  }
}
