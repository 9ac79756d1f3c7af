/**
 * A reference-counted memtable: held by the engine until its entries are in tables, and by every read view taken
 * before then. The last release frees its memory.
 */
import { Arena, type ArenaPool } from '../memtable/arena.ts'
import { Memtable } from '../memtable/memtable.ts'

/** Approximate bytes of an entry in the memtable's lists. */
export const entryBytes = 48

export class WriteBuffer {
  readonly memtable: Memtable
  #users = 1

  /** The creator holds the first reference. */
  constructor(pool: ArenaPool) {
    this.memtable = new Memtable(new Arena(pool))
  }

  /** The size that writeBufferSize limits: log records, lookup structures and pair hashes. */
  get fillBytes(): number {
    const { arena, entryCount, pairs } = this.memtable
    return arena.usedBytes + entryCount * entryBytes + pairs.bytes
  }

  retain(): void {
    this.#users++
  }

  /** REQUIRES: once by the creator, and once per retain(). */
  release(): void {
    this.#users--
    if (this.#users === 0) this.memtable.release()
  }
}
