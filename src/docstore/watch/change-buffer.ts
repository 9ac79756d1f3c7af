/**
 * Buffers changes between their commit and the consumer of one stream.
 *
 * Invariants:
 * 1. A commit never waits here and never sees an error: errors end the stream.
 * 2. A change is buffered once, in commit order, and only if the pipeline admits its event.
 * 3. The buffer stays within its budget, or holds one change; a change that would exceed it empties the buffer and
 *    fails the stream.
 */
import { bytesOf, type Change, eventOf, type FullDocumentFlags, trimFor } from './change.ts'
import { historyLost } from './errors.ts'
import type { Pipeline } from './pipeline.ts'

export interface BufferSettings extends FullDocumentFlags {
  readonly collection: string
  readonly pipeline: Pipeline
  readonly maxBufferedBytes: number
}

/** Taken changes are cut off once there are this many at the front. */
const maxTaken = 1024

export class ChangeBuffer {
  readonly settings: BufferSettings
  #changes: Change[] = []
  #first = 0
  #bytes = 0
  #state: 'open' | 'ended' | 'failed' = 'open'
  #failure: unknown
  #waiting: (() => void)[] = []
  /** Called once, when the stream takes no more changes. */
  onEnd: (() => void) | undefined

  constructor(settings: BufferSettings) {
    this.settings = settings
  }

  /** Whether the stream takes changes. */
  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get isEmpty(): boolean {
    return this.#first >= this.#changes.length
  }

  /** Bytes of the changes that are to be taken. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether what is to be taken exceeds half of the budget. */
  get isFilling(): boolean {
    return 2 * this.#bytes > this.settings.maxBufferedBytes
  }

  /** Adds a committed change. */
  put(change: Change): void {
    if (!this.isOpen) return
    const { collection, pipeline, maxBufferedBytes } = this.settings
    const kept = trimFor(this.settings, change)
    try {
      if (pipeline.admits?.(eventOf(kept, collection, this.settings)) === false) return
    } catch (error) {
      this.fail(error)
      return
    }
    const bytes = bytesOf(kept)
    if (!this.isEmpty && this.#bytes + bytes > maxBufferedBytes) {
      this.fail(historyLost(collection, maxBufferedBytes))
      return
    }
    this.#changes.push(kept)
    this.#bytes += bytes
    this.#wake()
  }

  /** Returns the next change, or undefined if there is none. @throws the error that the stream failed with */
  take(): Change | undefined {
    if (this.#state === 'failed') throw this.#failure
    if (this.isEmpty) return undefined
    const change = this.#changes[this.#first++]!
    this.#bytes -= bytesOf(change)
    if (this.isEmpty || this.#first >= maxTaken) {
      this.#changes = this.#changes.slice(this.#first)
      this.#first = 0
    }
    return change
  }

  /** Resolves when there may be a change to take, or when the stream has ended. */
  waitForChange(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** No more changes will come; buffered ones can still be taken. */
  end(): void {
    this.#end('ended')
  }

  /** Like end(), but discards buffered changes. */
  discard(): void {
    this.#clear()
    this.#end('ended')
  }

  /** Like discard(); take() throws the error from now on. */
  fail(error: unknown): void {
    if (!this.isOpen) return
    this.#failure = error
    this.#clear()
    this.#end('failed')
  }

  #end(state: 'ended' | 'failed'): void {
    if (!this.isOpen) return
    this.#state = state
    this.onEnd?.()
    this.#wake()
  }

  #clear(): void {
    this.#changes = []
    this.#first = 0
    this.#bytes = 0
  }

  #wake(): void {
    if (this.#waiting.length === 0) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
