/**
 * The threads that build the units of one bulk load.
 *
 * Invariants:
 * 1. A thread starts with the first unit that finds no other idle, and keeps the process alive only while it builds.
 * 2. Every unit is answered: by a reply, or by an error when its thread dies.
 */
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../lsm/start-thread.ts'
import type { LoadReply, LoadRequest } from './load-unit.ts'

export class LoadThreads {
  readonly count: number
  readonly #idle: LoadThread[] = []
  readonly #all: LoadThread[] = []

  /** @param count how many there may be */
  constructor(count: number) {
    this.count = count
  }

  /** REQUIRES: fewer than `count` units are being built. */
  async build(request: LoadRequest): Promise<LoadReply> {
    const thread = this.#idle.pop() ?? this.#start()
    const reply = await thread.build(request)
    this.#idle.push(thread)
    return reply
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    await Promise.all(this.#all.splice(0).map((thread) => thread.close()))
  }

  #start(): LoadThread {
    const thread = new LoadThread()
    this.#all.push(thread)
    return thread
  }
}

class LoadThread {
  readonly #worker: Worker

  constructor() {
    this.#worker = startThread(import.meta.url, 'load-thread')
    this.#worker.unref()
  }

  build(request: LoadRequest): Promise<LoadReply> {
    const worker = this.#worker
    return new Promise<LoadReply>((resolve, reject) => {
      let cause: unknown
      const onMessage = (reply: LoadReply): void => {
        leave()
        resolve(reply)
      }
      const onError = (error: unknown): void => {
        cause = error
      }
      const onExit = (code: number): void => {
        leave()
        reject(cause ?? new Error(`A thread of a bulk load has ended with code ${code}`))
      }
      const leave = (): void => {
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        worker.unref()
      }
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      worker.ref()
      worker.postMessage(request, [request.unit.bytes])
    })
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}
