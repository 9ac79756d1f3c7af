/**
 * Memory that write batches are encoded into: the bytes that go to the log, that the memtable refers to, and that a
 * flush finds in another thread, all without a copy.
 *
 * Invariants:
 * 1. A group of batches never spans two chunks.
 * 2. Committed bytes are not written again until the arena is released.
 * 3. Chunks of a released arena go back to the pool and are overwritten: whoever reads an arena, in this thread or in
 *    another, holds it back from release.
 */
import type { ArenaChunk } from '../compaction/job.ts'
import { copyShared } from '../format/bytes.ts'

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
  readonly #allocate: (bytes: number) => Buffer

  /** @param maxIdleBytes kept while no arena uses them */
  constructor(maxIdleBytes: number, allocate = allocateShared) {
    this.#maxIdleChunks = Math.floor(maxIdleBytes / chunkBytes)
    this.#allocate = allocate
  }

  get idleBytes(): number {
    return this.#idle.length * chunkBytes
  }

  take(bytes: number): Buffer {
    const idle = bytes <= chunkBytes ? this.#idle.pop() : undefined
    return idle ?? this.#allocate(Math.max(bytes, chunkBytes))
  }

  give(chunks: readonly Buffer[]): void {
    for (const chunk of chunks) {
      // Large chunks were made to measure for one group; they would hardly fit the next.
      if (chunk.length === chunkBytes && this.#idle.length < this.#maxIdleChunks) this.#idle.push(chunk)
    }
  }
}

function allocateShared(bytes: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(bytes))
}

/** The chunks of one memtable. */
export class Arena {
  readonly #pool: ArenaPool | undefined
  #chunks: Buffer[] = []
  #used = 0
  #usedBefore = 0
  #chunkBytes = 0

  constructor(pool?: ArenaPool) {
    this.#pool = pool
  }

  /**
   * An arena with copies of the bytes of another, whose chunks have the same numbers. Nothing can be added.
   * @param pool of memory that is not shared: copying values on from there, one by one, is several times as fast
   */
  static copyOf(chunks: readonly ArenaChunk[], pool: ArenaPool): Arena {
    const arena = new Arena(pool)
    for (const { buffer, usedBytes } of chunks) {
      const copy = pool.take(usedBytes)
      copyShared(new Uint8Array(buffer, 0, usedBytes), copy, 0)
      arena.#open(copy)
      arena.#used = usedBytes
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
      current = this.#pool?.take(bytes) ?? allocateShared(Math.max(bytes, chunkBytes))
      this.#open(current)
    }
    return { chunk: this.#chunks.length - 1, bytes: current, offset: this.#used }
  }

  /** Everything before `end` in the chunk last reserved in stays as it is from now on. */
  commit(end: number): void {
    this.#used = end
  }

  /** The chunks as they are now. REQUIRES: their memory is shared. */
  snapshot(): readonly ArenaChunk[] {
    const last = this.#chunks.length - 1
    return this.#chunks.map(({ buffer, length }, number) => ({
      buffer: buffer as SharedArrayBuffer,
      // Where a chunk that was left for the next one ends does not matter.
      usedBytes: number === last ? this.#used : length
    }))
  }

  /** Gives the chunks back. Nobody reads them any more. Fine when called twice. */
  release(): void {
    this.#pool?.give(this.#chunks)
    this.#chunks = []
    this.#used = 0
    this.#usedBefore = 0
    this.#chunkBytes = 0
  }

  #open(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#usedBefore += this.#used
    this.#used = 0
    this.#chunkBytes += chunk.length
  }
}
