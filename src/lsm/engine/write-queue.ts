/**
 * Writes batches to the log and the memtable, many at a time, in the order of submission.
 *
 * A batch is encoded on submission, so that the caller may reuse its buffers at once, into the arena of its memtable;
 * there it waits as part of a group. A group is one log record and one write; after that its entries go into the
 * memtable, which refers to the arena's bytes, and become visible.
 *
 * Invariants:
 * 1. Groups are written, applied and acknowledged in order; sequence numbers follow the order of the calls, without
 *    gaps.
 * 2. Nothing becomes visible before it is in the log or, if its group asks for sync, before it is durable.
 * 3. Every promise is settled: by success, or by the failure that ended all writing.
 * 4. After a failure nothing more is written: the log's contents beyond that point are unknown.
 */
import type { PutHashes } from '../encoded-batch.ts'
import { isTurnLong, workMilliseconds } from './event-loop-turn.ts'
import type { WriteBuffer } from './write-buffer.ts'
import { WriteGroup, type WriteOperation } from './write-group.ts'

/** What the queue needs of the engine. */
export interface WriteQueueHost {
  /** A new memtable. */
  newBuffer(): WriteBuffer
  /** Freezes the active memtable and makes this one active, with a new log. @throws LEVEL_IO_ERROR */
  activate(buffer: WriteBuffer): void
  /** Whether activate() may be called now; if not, the host calls resume() later. */
  mayActivate(): boolean
  /** Milliseconds that a write of `bytes` has to wait first. */
  delay(bytes: number): number
  /** Writes the record to the log of the active memtable. @throws LEVEL_IO_ERROR */
  append(record: Uint8Array): void
  /** Makes everything appended durable, in this log and those before it. */
  sync(): Promise<void>
  /** Applies a written group to the active memtable and makes it visible. */
  publish(group: WriteGroup): void
  /** Writing has ended. */
  onFailed(error: Error): void
}

/**
 * Groups do not grow beyond this, so that applying one takes a few milliseconds at most; a single batch may be larger.
 */
const maxGroupBytes = 256 * 1024

type State =
  | 'idle'
  /** A run of the queue is scheduled, as microtask or immediate. */
  | 'scheduled'
  /** Slowed down for some milliseconds. */
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
  /** Groups not applied yet, oldest first; the last one may still grow. */
  readonly #groups: WriteGroup[] = []
  /** The memtable of the next group: the active one, or one to be activated when its first group is written. */
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

  /** @param lastSequence of the entries already in the store */
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

  /** The error that ended writing; undefined while it works. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** @param hashes of the value's pairs, see HashesOption */
  put(key: Uint8Array, value: Uint8Array, sync: boolean, hashes?: Int32Array): Promise<void> {
    const group = this.#groupWithRoom(WriteGroup.putBytes(key, value))
    group.put(this.#lastSequence + 1, key, value)
    if (hashes !== undefined) group.buffer.memtable.pairs.add(group.lastSequence, hashes)
    return this.#submit(group, sync)
  }

  delete(key: Uint8Array, sync: boolean): Promise<void> {
    const group = this.#groupWithRoom(WriteGroup.deleteBytes(key))
    group.delete(this.#lastSequence + 1, key)
    return this.#submit(group, sync)
  }

  /**
   * REQUIRES: at least one operation.
   * @param takesHashes whether the operations' hashes are used
   */
  batch(operations: readonly WriteOperation[], sync: boolean, takesHashes = false): Promise<void> {
    const group = this.#groupWithRoom(WriteGroup.batchBytes(operations))
    const first = this.#lastSequence + 1
    group.batch(first, operations)
    if (takesHashes) {
      const { pairs } = group.buffer.memtable
      for (const [i, operation] of operations.entries()) {
        if (operation.type === 'put' && operation.hashes !== undefined) pairs.add(first + i, operation.hashes)
      }
    }
    return this.#submit(group, sync)
  }

  /**
   * A batch that is already encoded. REQUIRES: count ≥ 1.
   * @param hashes of its puts, as far as they are used
   */
  writeEncoded(operations: Uint8Array, count: number, sync: boolean, hashes: readonly PutHashes[] = []): Promise<void> {
    const group = this.#groupWithRoom(WriteGroup.encodedBytes(operations))
    const first = this.#lastSequence + 1
    group.addEncoded(first, count, operations)
    for (const { operation, hashes: halves } of hashes) group.buffer.memtable.pairs.add(first + operation, halves)
    return this.#submit(group, sync)
  }

  /** Resolves when all writes submitted so far are in the log and visible. @throws the error that ended writing */
  async whenWritten(): Promise<void> {
    await this.#groups.at(-1)?.promise
  }

  /** Visits the keys of writes not applied yet. */
  visitPendingKeys(visit: (key: Uint8Array) => void): void {
    for (const group of this.#groups) group.visitKeys(visit)
  }

  /** Resolves when the memtable with all writes submitted so far has been frozen. */
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

  /** The host has room again: ends a stall or a slowdown. */
  resume(): void {
    if (this.#state !== 'stalled' && this.#state !== 'paced') return
    clearTimeout(this.#timer)
    this.#run()
  }

  /** Resolves when no write is pending, whether they succeeded or not. */
  whenIdle(): Promise<void> {
    if (this.#groups.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idleWaiters.push(resolve))
  }

  /** Ends writing: rejects pending and future writes. */
  fail(error: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    this.#state = 'failed'
    clearTimeout(this.#timer)
    for (const group of this.#groups.splice(0)) group.reject(error)
    this.#host.onFailed(error)
    this.#wakeIdleWaiters()
  }

  /** Returns a group with room for `bytes` more. */
  #groupWithRoom(bytes: number): WriteGroup {
    if (this.#failure !== undefined) throw this.#failure
    const last = this.#groups.at(-1)
    if (last?.hasRoom(bytes, this.#maxGroupBytes)) return last
    last?.close()
    if (this.#tail.fillBytes >= this.#writeBufferBytes) this.#tail = this.#host.newBuffer()
    const group = new WriteGroup(this.#tail, bytes)
    this.#groups.push(group)
    return group
  }

  #submit(group: WriteGroup, sync: boolean): Promise<void> {
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

  /** Writes groups until none is left or one has to wait. */
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

  /** False if the group has to wait; the queue comes back to it later. */
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

  /** False if it failed and thereby ended writing. */
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
    // The queue may have failed while the group waited for the device; then the group was rejected.
    const group = this.#groups.shift()
    if (group === undefined) return
    if (!group.isEmpty) this.#host.publish(group)
    group.resolve()
  }

  #wakeIdleWaiters(): void {
    for (const wake of this.#idleWaiters.splice(0)) wake()
  }
}
