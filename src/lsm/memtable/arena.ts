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
import { copyShared } from '../../model/copy-bytes.ts'
import type { ArenaChunk } from '../compaction/job.ts'

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

/**
 * Chunks are cut from slabs of so many, so that the system has the memory back when nobody uses it any more: what is
 * larger than 32 MiB glibc never keeps to itself, and single chunks leave holes in its heap.
 */
const slabChunks = 33

/** One allocation, whose pages are the system's until they are written to. */
interface Slab {
  readonly memory: Buffer
  /** Chunks that were cut off so far. */
  cut: number
  /** Of these, those that no arena uses. */
  readonly idle: Buffer[]
}

/**
 * Keeps chunks of past arenas: fresh memory costs zero-filling and a page fault every 4 KiB. The slab that went last is taken
 * again while it is there: V8 does not count shared memory, and where stores are opened one after the other each would leave
 * one behind until something else makes it collect.
 */
export class ArenaPool {
  readonly #maxIdleBytes: number
  readonly #slabBytes: number
  readonly #allocate: (bytes: number) => Buffer
  /** In the order they were made: the last ones become idle first. */
  #slabs: Slab[] = []
  #gone: WeakRef<Buffer> | undefined

  /** @param maxIdleBytes kept while no arena uses them; a pool that keeps few has a slab for each chunk */
  constructor(maxIdleBytes: number, allocate = allocateShared) {
    this.#maxIdleBytes = maxIdleBytes
    this.#slabBytes = maxIdleBytes < (slabChunks >>> 1) * chunkBytes ? chunkBytes : slabChunks * chunkBytes
    this.#allocate = allocate
  }

  get idleBytes(): number {
    return this.#slabs.reduce((chunks, { idle }) => chunks + idle.length, 0) * chunkBytes
  }

  take(bytes: number): Buffer {
    // A chunk made to measure for one group: it would hardly fit the next.
    if (bytes > chunkBytes) return this.#allocate(bytes)
    for (const slab of this.#slabs) {
      const chunk = slab.idle.pop() ?? this.#cut(slab)
      if (chunk !== undefined) return chunk
    }
    const slab: Slab = { memory: this.#gone?.deref() ?? this.#allocate(this.#slabBytes), cut: 0, idle: [] }
    this.#gone = undefined
    this.#slabs.push(slab)
    // It has room for one.
    return this.#cut(slab)!
  }

  /** Takes chunks back. Slabs that nobody uses go, the newest first, while more is idle than may be. */
  give(chunks: readonly Buffer[]): void {
    for (const chunk of chunks) this.#slabs.find(({ memory }) => memory.buffer === chunk.buffer)?.idle.push(chunk)
    let idleBytes = this.idleBytes
    for (let i = this.#slabs.length - 1; i >= 0 && idleBytes > this.#maxIdleBytes; i--) {
      const { memory, cut, idle } = this.#slabs[i]!
      if (idle.length < cut) continue
      this.#slabs.splice(i, 1)
      this.#gone = new WeakRef(memory)
      idleBytes -= idle.length * chunkBytes
    }
  }

  #cut(slab: Slab): Buffer | undefined {
    const start = slab.cut * chunkBytes
    if (start === slab.memory.length) return undefined
    slab.cut++
    return slab.memory.subarray(start, start + chunkBytes)
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
    for (const { buffer, start, usedBytes } of chunks) {
      const copy = pool.take(usedBytes)
      copyShared(new Uint8Array(buffer, start, usedBytes), copy, 0)
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

  /** The chunks as they are now. REQUIRES: their memory is shared, if another thread is to have them. */
  snapshot(): readonly ArenaChunk[] {
    const last = this.#chunks.length - 1
    return this.#chunks.map(({ buffer, byteOffset, length }, number) => ({
      buffer: buffer as SharedArrayBuffer,
      start: byteOffset,
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
