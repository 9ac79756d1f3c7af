/**
 * Threads of one kind, kept for a while after their work, because a new one has to compile everything again.
 *
 * Invariants:
 * 1. A thread keeps the process alive only while it owes a reply.
 * 2. Every request is settled: by a reply, or by an error if its thread dies.
 */
import type { Worker } from 'node:worker_threads'

/** How long a thread is kept after its work. */
export const idleMilliseconds = 60_000

/** Called with what a thread sends before its reply; must not throw. */
type OnProgress<Progress> = (progress: Progress) => void

interface Pending<Reply, Progress> {
  readonly onProgress: OnProgress<Progress> | undefined
  resolve(reply: Reply): void
  reject(error: unknown): void
}

interface Kinds {
  readonly kind: string
}

/** Messages with `kind: 'progress'` precede a reply; others are replies, in the order of requests. */
export type ProgressOf<Reply extends Kinds> = Extract<Reply, { readonly kind: 'progress' }>
export type ReplyOf<Reply extends Kinds> = Exclude<Reply, { readonly kind: 'progress' }>

export class ThreadPool<Message, Reply extends Kinds> {
  readonly #start: () => Worker
  /** The thread used last is reused first. */
  readonly #idle: PooledThread<Message, Reply>[] = []
  readonly #timers = new Map<PooledThread<Message, Reply>, NodeJS.Timeout>()

  constructor(start: () => Worker) {
    this.#start = start
  }

  /** Returns an idle thread, or a new one. The caller puts it back, unless it dies. */
  take(): PooledThread<Message, Reply> {
    const idle = this.#idle.pop()
    if (idle === undefined) return new PooledThread(this.#start(), (thread) => this.#forget(thread))
    clearTimeout(this.#timers.get(idle))
    return idle
  }

  /** REQUIRES: the thread owes no reply */
  putBack(thread: PooledThread<Message, Reply>): void {
    if (thread.isDead) return
    this.#idle.push(thread)
    const end = (): void => {
      this.#forget(thread)
      thread.end()
    }
    this.#timers.set(thread, setTimeout(end, idleMilliseconds).unref())
  }

  #forget(thread: PooledThread<Message, Reply>): void {
    const place = this.#idle.indexOf(thread)
    if (place >= 0) this.#idle.splice(place, 1)
    clearTimeout(this.#timers.get(thread))
    this.#timers.delete(thread)
  }
}

export class PooledThread<Message, Reply extends Kinds> {
  readonly #worker: Worker
  readonly #pending: Pending<ReplyOf<Reply>, ProgressOf<Reply>>[] = []
  /** Why no more requests are answered. */
  #death: unknown

  constructor(worker: Worker, onDeath: (thread: PooledThread<Message, Reply>) => void) {
    this.#worker = worker
    let cause: unknown
    worker.on('message', (reply: Reply) => {
      if (reply.kind === 'progress') this.#pending[0]?.onProgress?.(reply as ProgressOf<Reply>)
      else this.#settle()?.resolve(reply as ReplyOf<Reply>)
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', (code) => {
      this.#death = cause ?? new Error(`A thread exited with code ${code}`)
      onDeath(this)
      for (let next = this.#settle(); next !== undefined; next = this.#settle()) next.reject(this.#death)
    })
    worker.unref()
  }

  get isDead(): boolean {
    return this.#death !== undefined
  }

  /** @throws Error if the thread dies */
  request(
    message: Message,
    transfer: readonly ArrayBuffer[] = [],
    onProgress?: OnProgress<ProgressOf<Reply>>
  ): Promise<ReplyOf<Reply>> {
    return new Promise((resolve, reject) => {
      if (this.isDead) {
        reject(this.#death)
        return
      }
      this.#worker.postMessage(message, transfer)
      this.#pending.push({ onProgress, resolve, reject })
      this.#worker.ref()
    })
  }

  /**
   * Like request(), but ends a thread that does not answer in time: it may be in a function that never looks for
   * messages, or not get a processor.
   */
  async requestWithin(milliseconds: number, message: Message): Promise<ReplyOf<Reply>> {
    const timer = setTimeout(() => this.end(), milliseconds)
    try {
      return await this.request(message)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Sends what is not answered. */
  tell(message: Message): void {
    this.#worker.postMessage(message)
  }

  /** Whoever waits for a reply gets an error. */
  end(): void {
    void this.#worker.terminate()
  }

  #settle(): Pending<ReplyOf<Reply>, ProgressOf<Reply>> | undefined {
    const pending = this.#pending.shift()
    if (this.#pending.length === 0) this.#worker.unref()
    return pending
  }
}
