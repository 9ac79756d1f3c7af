/**
 * Memory that write batches are encoded into: the same bytes go to the log, are referred to by the memtable, and are
 * read by a flush in another thread, all without copying.
 *
 * Invariants:
 * 1. A group of batches never spans two chunks.
 * 2. Committed bytes are not overwritten until the arena is released.
 * 3. Chunks of a released arena return to the pool and are overwritten: whoever reads an arena, in this thread or in
 *    another, has to defer its release.
 */
import { copyShared } from '../../model/copy-bytes.ts'
import type { ArenaChunk } from '../compaction/job.ts'

/** Size of a chunk, unless one group of batches needs more. */
export const chunkBytes = 1 << 20

/** Space for encoding the next group. */
export interface Reservation {
  /** Number of the chunk, as passed to Memtable.add. */
  readonly chunk: number
  /** The whole chunk. */
  readonly bytes: Buffer
  /** Offset of the reserved range in `bytes`. */
  readonly offset: number
}

/**
 * Chunks per slab. Chunks are cut from slabs so that the system gets the memory back once it is unused: glibc never
 * retains allocations larger than 32 MiB, whereas single chunks leave holes in its heap.
 */
const slabChunks = 33
export const slabBytes = slabChunks * chunkBytes

/** One allocation; its pages are not backed by memory until they are written to. */
interface Slab {
  readonly memory: Buffer
  /** Number of chunks cut off so far. */
  cut: number
  /** Those of them that no arena uses. */
  readonly idle: Buffer[]
}

/**
 * Retains chunks of released arenas: fresh memory costs zero-filling and a page fault every 4 KiB. The slab dropped
 * last is reused while it still exists: V8 does not account for shared memory, so when stores are opened one after
 * another, each would leave one slab behind until something else triggers a collection.
 */
export class ArenaPool {
  readonly #maxIdleBytes: number
  readonly #slabBytes: number
  readonly #allocate: (bytes: number) => Buffer
  /** In order of creation: the last ones become idle first. */
  #slabs: Slab[] = []
  #gone: WeakRef<Buffer> | undefined

  /** @param maxIdleBytes retained while no arena uses them; a small pool has one slab per chunk */
  constructor(maxIdleBytes: number, allocate = allocateShared) {
    this.#maxIdleBytes = maxIdleBytes
    this.#slabBytes = maxIdleBytes < (slabChunks >>> 1) * chunkBytes ? chunkBytes : slabBytes
    this.#allocate = allocate
  }

  get idleBytes(): number {
    return this.#slabs.reduce((chunks, { idle }) => chunks + idle.length, 0) * chunkBytes
  }

  take(bytes: number): Buffer {
    // A chunk allocated for one large group would hardly fit the next.
    if (bytes > chunkBytes) return this.#allocate(bytes)
    for (const slab of this.#slabs) {
      const chunk = slab.idle.pop() ?? this.#cut(slab)
      if (chunk !== undefined) return chunk
    }
    const slab: Slab = { memory: this.#gone?.deref() ?? this.#allocate(this.#slabBytes), cut: 0, idle: [] }
    this.#gone = undefined
    this.#slabs.push(slab)
    // A new slab has room for a chunk.
    return this.#cut(slab)!
  }

  /** Takes chunks back. Drops unused slabs, newest first, while more than the limit is idle. */
  release(chunks: readonly Buffer[]): void {
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
   * An arena with copies of another's bytes, whose chunks have the same numbers. Nothing can be added.
   * @param pool of unshared memory: copying values out of it, one by one, is several times as fast
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

  /** Bytes handed out so far, including record headers: the growth of the log. */
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

  /** Reserves `bytes`, to be filled and committed before the next call. Uncommitted space is handed out again. */
  reserve(bytes: number): Reservation {
    let current = this.#chunks[this.#chunks.length - 1]
    if (current === undefined || current.length - this.#used < bytes) {
      current = this.#pool?.take(bytes) ?? allocateShared(Math.max(bytes, chunkBytes))
      this.#open(current)
    }
    return { chunk: this.#chunks.length - 1, bytes: current, offset: this.#used }
  }

  /** Makes everything before `end`, in the chunk last reserved from, immutable. */
  commit(end: number): void {
    this.#used = end
  }

  /** The current chunks. REQUIRES: shared memory, if another thread is to use them. */
  snapshot(): readonly ArenaChunk[] {
    const last = this.#chunks.length - 1
    return this.#chunks.map(({ buffer, byteOffset, length }, number) => ({
      buffer: buffer as SharedArrayBuffer,
      start: byteOffset,
      // The unused end of an earlier chunk does no harm.
      usedBytes: number === last ? this.#used : length
    }))
  }

  /** Returns the chunks to the pool. REQUIRES: nobody reads them any more. May be called twice. */
  release(): void {
    this.#pool?.release(this.#chunks)
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
