/**
 * The threads that build the units of bulk loads.
 *
 * Invariants:
 * 1. A thread starts with the first unit that finds no other idle, and keeps the process alive only while it builds. When it
 *    has had nothing to do for a while it ends.
 * 2. Every unit is answered: by a reply, or by an error when its thread dies.
 */
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../lsm/start-thread.ts'
import type { LoadReply, LoadRequest } from './load-unit.ts'

/** The next import finds everything compiled, which a thread otherwise spends a second of its processor on. */
const idleMilliseconds = 60_000

/** Of this process; the one used last is the next to be used. */
const idle: LoadThread[] = []

/** @throws Error when the thread dies */
export async function buildInThread(request: LoadRequest): Promise<LoadReply> {
  const thread = idle.pop() ?? new LoadThread(forget)
  const reply = await thread.build(request)
  thread.endLater()
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
    const worker = startThread(import.meta.url, 'load-thread', { isAlone: true })
    this.#worker = worker
    let cause: unknown
    worker.on('message', (reply: LoadReply) => this.#settle()?.resolve(reply))
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', (code) => {
      onEnd(this)
      this.#settle()?.reject(cause ?? new Error(`A thread of an import has ended with code ${code}`))
    })
    worker.unref()
  }

  /** REQUIRES: it is not building. */
  build(request: LoadRequest): Promise<LoadReply> {
    clearTimeout(this.#timer)
    return new Promise((resolve, reject) => {
      this.#worker.postMessage(request)
      this.#pending = { resolve, reject }
      this.#worker.ref()
    })
  }

  /** When it has built nothing for a while. */
  endLater(): void {
    this.#timer = setTimeout(() => {
      this.#onEnd(this)
      // It has nothing to do: there is nobody to be told.
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
