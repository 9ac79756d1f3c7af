/**
 * Puts batches into the log and the memtable, many at a time, in the order in which they were handed in.
 *
 * A batch is encoded when it is handed in, so that the caller may reuse its buffers at once, into the arena of the
 * memtable it will be in; there it waits as part of a group. A group is one record of the log and one write of it; then
 * its entries go into the memtable, which refers to the arena's bytes, and become visible.
 *
 * Invariants:
 * 1. Groups are written, applied and acknowledged in order; sequence numbers follow the order of the calls, without a
 *    gap.
 * 2. Nothing is visible before it is in the log, nor, when its group asks for sync, before it is durable.
 * 3. Every promise is settled: by success, or by the failure that ended all writing.
 * 4. After a failure nothing is written any more: what the log holds from there on is unknown.
 */
import type { PutHashes } from '../encoded-batch.ts'
import { isTurnLong, workMilliseconds } from './event-loop-turn.ts'
import type { WriteBuffer } from './write-buffer.ts'
import { WriteGroup, type WriteOperation } from './write-group.ts'

/** What the queue needs of the engine. */
export interface WriteQueueHost {
  /** A memtable that is not in use yet. */
  newBuffer(): WriteBuffer
  /** Sets the active memtable aside and takes this one, with a new log. @throws LEVEL_IO_ERROR */
  activate(buffer: WriteBuffer): void
  /** Whether activate() may be called now; when not, the host calls resume() later. */
  mayActivate(): boolean
  /** Milliseconds that a write of so many bytes has to wait first. */
  delay(bytes: number): number
  /** Writes the record to the log of the active memtable. @throws LEVEL_IO_ERROR */
  append(record: Uint8Array): void
  /** Makes durable what was appended, to this log and to those before it. */
  sync(): Promise<void>
  /** Applies a written group to the active memtable and makes it visible. */
  publish(group: WriteGroup): void
  /** Writing has ended. */
  failed(error: Error): void
}

/** Groups do not grow beyond this, so that applying one takes a few milliseconds at most; a single batch may. */
const maxGroupBytes = 256 * 1024

type State =
  | 'idle'
  /** A turn of the queue is scheduled, as microtask or immediate. */
  | 'scheduled'
  /** Slowed down, for a while. */
  | 'paced'
  /** Waiting for the device. */
  | 'syncing'
  /** Waiting for a flush or a compaction. */
  | 'stalled'
  | 'failed'

export class WriteQueue {
  readonly #host: WriteQueueHost
  readonly #writeBufferBytes: number
  readonly #maxGroupBytes: number
  /** Groups that are not applied yet, oldest first; the last one may still grow. */
  readonly #groups: WriteGroup[] = []
  /** The memtable that the next group will be in: the active one, or one that becomes active when its turn comes. */
  #tail: WriteBuffer
  /** The memtable whose log is being written. */
  #active: WriteBuffer
  #lastSequence: number
  #state: State = 'idle'
  #failure: Error | undefined
  #timer: NodeJS.Timeout | undefined
  #idleWaiters: (() => void)[] = []
  readonly #takeTurn = (): void => this.#run()
  readonly #onSynced = (): void => {
    this.#complete()
    this.#run()
  }
  readonly #onFailure = (error: Error): void => this.fail(error)

  /** @param lastSequence of what is in the store already */
  constructor(host: WriteQueueHost, active: WriteBuffer, lastSequence: number, writeBufferBytes: number) {
    this.#host = host
    this.#active = active
    this.#tail = active
    this.#lastSequence = lastSequence
    this.#writeBufferBytes = writeBufferBytes
    this.#maxGroupBytes = Math.min(maxGroupBytes, writeBufferBytes)
  }

  /** True while a writer waits for a flush or a compaction. */
  get isStalled(): boolean {
    return this.#state === 'stalled'
  }

  get isEmpty(): boolean {
    return this.#groups.length === 0
  }

  /** What ended writing; undefined while it goes on. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** @param hashes of the value's pairs, as PutOptions has them */
  put(key: Uint8Array, value: Uint8Array, sync: boolean, hashes?: Int32Array): Promise<void> {
    const group = this.#room(WriteGroup.putBytes(key, value))
    group.put(this.#lastSequence + 1, key, value)
    if (hashes !== undefined) group.buffer.memtable.pairs.add(group.lastSequence, hashes)
    return this.#added(group, sync)
  }

  delete(key: Uint8Array, sync: boolean): Promise<void> {
    const group = this.#room(WriteGroup.deleteBytes(key))
    group.delete(this.#lastSequence + 1, key)
    return this.#added(group, sync)
  }

  /**
   * REQUIRES: at least one operation.
   * @param takesHashes whether those of operations are of use
   */
  batch(operations: readonly WriteOperation[], sync: boolean, takesHashes = false): Promise<void> {
    const group = this.#room(WriteGroup.batchBytes(operations))
    const first = this.#lastSequence + 1
    group.batch(first, operations)
    if (takesHashes) {
      const { pairs } = group.buffer.memtable
      for (const [i, operation] of operations.entries()) {
        if (operation.type === 'put' && operation.hashes !== undefined) pairs.add(first + i, operation.hashes)
      }
    }
    return this.#added(group, sync)
  }

  /**
   * A batch that is encoded already. REQUIRES: count ≥ 1.
   * @param hashes of its puts, as far as they are of use
   */
  encoded(operations: Uint8Array, count: number, sync: boolean, hashes: readonly PutHashes[] = []): Promise<void> {
    const group = this.#room(WriteGroup.encodedBytes(operations))
    const first = this.#lastSequence + 1
    group.encoded(first, count, operations)
    for (const { operation, hashes: halves } of hashes) group.buffer.memtable.pairs.add(first + operation, halves)
    return this.#added(group, sync)
  }

  /** Resolves when all that was handed in so far is in the log and visible. @throws what ended writing */
  async whenWritten(): Promise<void> {
    await this.#groups.at(-1)?.promise
  }

  /** Shows the keys of what is not applied yet. */
  visitWaiting(visit: (key: Uint8Array) => void): void {
    for (const group of this.#groups) group.visitKeys(visit)
  }

  /** Resolves when the memtable that holds what was handed in so far has been set aside. */
  async rotate(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#groups.length === 0 && this.#active.memtable.isEmpty) return
    this.#groups.at(-1)?.close()
    this.#tail = this.#host.newBuffer()
    const group = new WriteGroup(this.#tail, 0)
    this.#groups.push(group)
    this.#schedule()
    await group.promise
  }

  /** The host's word that there is room again: nobody has to wait on. */
  resume(): void {
    if (this.#state !== 'stalled' && this.#state !== 'paced') return
    clearTimeout(this.#timer)
    this.#run()
  }

  /** Resolves when nothing waits to be written, whether it was or not. */
  whenIdle(): Promise<void> {
    if (this.#groups.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idleWaiters.push(resolve))
  }

  /** Ends writing: rejects what waits and what is to come. */
  fail(error: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    this.#state = 'failed'
    clearTimeout(this.#timer)
    for (const group of this.#groups.splice(0)) group.reject(error)
    this.#host.failed(error)
    this.#wakeIdleWaiters()
  }

  /** A group with room for one more batch. */
  #room(bytes: number): WriteGroup {
    if (this.#failure !== undefined) throw this.#failure
    const last = this.#groups.at(-1)
    if (last?.hasRoom(bytes, this.#maxGroupBytes)) return last
    last?.close()
    if (this.#tail.fillBytes >= this.#writeBufferBytes) this.#tail = this.#host.newBuffer()
    const group = new WriteGroup(this.#tail, bytes)
    this.#groups.push(group)
    return group
  }

  #added(group: WriteGroup, sync: boolean): Promise<void> {
    this.#lastSequence = group.lastSequence
    if (sync) group.sync = true
    this.#schedule()
    return group.promise
  }

  #schedule(): void {
    if (this.#state !== 'idle') return
    this.#state = 'scheduled'
    if (isTurnLong(workMilliseconds)) setImmediate(this.#takeTurn)
    else queueMicrotask(this.#takeTurn)
  }

  /** Writes groups until there are none, or until one has to wait. */
  #run(): void {
    for (let group = this.#groups[0]; group !== undefined; group = this.#groups[0]) {
      if (!this.#mayWrite(group)) return
      if (!this.#write(group)) return
      if (group.sync) {
        this.#state = 'syncing'
        this.#host.sync().then(this.#onSynced, this.#onFailure)
        return
      }
      this.#complete()
      if (this.#groups.length > 0 && isTurnLong(workMilliseconds)) {
        this.#state = 'scheduled'
        setImmediate(this.#takeTurn)
        return
      }
    }
    if (this.#failure === undefined) this.#state = 'idle'
    this.#wakeIdleWaiters()
  }

  /** False when the group has to wait; its turn comes again. */
  #mayWrite(group: WriteGroup): boolean {
    if (group.buffer !== this.#active && !this.#host.mayActivate()) {
      this.#state = 'stalled'
      return false
    }
    if (group.isPaced) return true
    group.isPaced = true
    const milliseconds = group.isEmpty ? 0 : this.#host.delay(group.recordBytes)
    if (milliseconds === 0) return true
    this.#state = 'paced'
    this.#timer = setTimeout(this.#takeTurn, milliseconds)
    return false
  }

  /** False when that was the end of writing. */
  #write(group: WriteGroup): boolean {
    group.close()
    try {
      if (group.buffer !== this.#active) {
        this.#host.activate(group.buffer)
        this.#active = group.buffer
      }
      if (!group.isEmpty) this.#host.append(group.record)
      return true
    } catch (error) {
      this.fail(error as Error)
      return false
    }
  }

  #complete(): void {
    // It may have failed while it waited for the device; then it was rejected.
    const group = this.#groups.shift()
    if (group === undefined) return
    if (!group.isEmpty) this.#host.publish(group)
    group.resolve()
  }

  #wakeIdleWaiters(): void {
    for (const wake of this.#idleWaiters.splice(0)) wake()
  }
}
