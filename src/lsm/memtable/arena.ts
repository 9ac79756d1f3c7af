/**
 * Memory that write batches are encoded into: the bytes that go to the log, that the memtable refers to, and that a
 * flush replays in another thread, all without a copy.
 *
 * Invariants:
 * 1. A group of batches never spans two chunks.
 * 2. Committed bytes are not written again until the arena is released.
 * 3. Chunks of a released arena go back to the pool and are overwritten: whoever reads an arena, in this thread or in
 *    another, holds it back from release.
 */
import type { ArenaChunk, ArenaSnapshot } from '../compaction/job.ts'

/** Bytes of a chunk, unless one group of batches needs more. */
export const chunkBytes = 1 << 20

/** Where to encode the next group. */
export interface Reservation {
  /** Number of the chunk, as Memtable.add wants it. */
  readonly chunk: number
  /** The whole chunk. */
  readonly bytes: Buffer
  /** Where in `bytes` the reserved range begins. */
  readonly offset: number
}

/** Keeps chunks of past arenas: fresh memory costs zero-filling and a page fault every 4 KiB. */
export class ArenaPool {
  readonly #idle: Buffer[] = []
  readonly #maxIdleChunks: number

  /** @param maxIdleBytes kept while no arena uses them */
  constructor(maxIdleBytes: number) {
    this.#maxIdleChunks = Math.floor(maxIdleBytes / chunkBytes)
  }

  get idleBytes(): number {
    return this.#idle.length * chunkBytes
  }

  take(bytes: number): Buffer {
    const idle = bytes <= chunkBytes ? this.#idle.pop() : undefined
    return idle ?? Buffer.from(new SharedArrayBuffer(Math.max(bytes, chunkBytes)))
  }

  give(chunks: readonly Buffer[]): void {
    for (const chunk of chunks) {
      // Large chunks were made to measure for one group; they would hardly fit the next.
      if (chunk.length === chunkBytes && this.#idle.length < this.#maxIdleChunks) this.#idle.push(chunk)
    }
  }
}

/** The chunks of one memtable. */
export class Arena {
  readonly #pool: ArenaPool | undefined
  #chunks: Buffer[] = []
  /** Per chunk, [start, end) pairs of committed payloads. */
  #payloads: number[][] = []
  #used = 0
  #usedBefore = 0
  #chunkBytes = 0

  constructor(pool?: ArenaPool) {
    this.#pool = pool
  }

  /** An arena over the bytes of another, to replay them. Nothing can be added. */
  static of(snapshot: ArenaSnapshot): Arena {
    const arena = new Arena()
    for (const { buffer, payloads } of snapshot.chunks) {
      arena.#open(Buffer.from(buffer))
      arena.#payloads[arena.#payloads.length - 1] = [...payloads]
      arena.#used = buffer.byteLength
    }
    return arena
  }

  /** Bytes handed out so far, record headers included: what the log has grown by. */
  get usedBytes(): number {
    return this.#usedBefore + this.#used
  }

  /** Bytes of memory held. */
  get memoryBytes(): number {
    return this.#chunkBytes
  }

  get chunkCount(): number {
    return this.#chunks.length
  }

  /** The bytes of a chunk. */
  chunk(number: number): Buffer {
    return this.#chunks[number]!
  }

  /**
   * Room for `bytes`, to be filled and committed before the next call. What is reserved and not committed is handed
   * out again.
   */
  reserve(bytes: number): Reservation {
    let current = this.#chunks[this.#chunks.length - 1]
    if (current === undefined || current.length - this.#used < bytes) {
      current = this.#pool?.take(bytes) ?? Buffer.from(new SharedArrayBuffer(Math.max(bytes, chunkBytes)))
      this.#open(current)
    }
    return { chunk: this.#chunks.length - 1, bytes: current, offset: this.#used }
  }

  /**
   * Makes [payloadStart, payloadEnd) of the chunk last reserved in part of the arena's contents; everything before
   * `payloadEnd` stays as it is from now on.
   */
  commit(payloadStart: number, payloadEnd: number): void {
    this.#payloads[this.#payloads.length - 1]!.push(payloadStart, payloadEnd)
    this.#used = payloadEnd
  }

  /** The payloads committed so far. Shares the memory. */
  snapshot(): ArenaSnapshot {
    const chunks: ArenaChunk[] = []
    for (const [number, payloads] of this.#payloads.entries()) {
      if (payloads.length === 0) continue
      const buffer = this.#chunks[number]!.buffer as SharedArrayBuffer
      chunks.push({ buffer, payloads: Float64Array.from(payloads) })
    }
    return { chunks }
  }

  /** Gives the chunks back. Nobody reads them any more. Fine when called twice. */
  release(): void {
    this.#pool?.give(this.#chunks)
    this.#chunks = []
    this.#payloads = []
    this.#used = 0
    this.#usedBefore = 0
    this.#chunkBytes = 0
  }

  #open(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#payloads.push([])
    this.#usedBefore += this.#used
    this.#used = 0
    this.#chunkBytes += chunk.length
  }
}
