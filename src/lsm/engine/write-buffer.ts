/**
 * A memtable and who uses it: the engine until its entries are in tables, and every read view that was taken while
 * they were not. The last one gives the memory back.
 */
import { Arena, type ArenaPool } from '../memtable/arena.ts'
import { Memtable } from '../memtable/memtable.ts'

/** Of an entry in the memtable's lists, about. */
export const entryBytes = 48

export class WriteBuffer {
  readonly memtable: Memtable
  #users = 1

  /** Held by its maker. */
  constructor(pool: ArenaPool) {
    this.memtable = new Memtable(new Arena(pool))
  }

  /** What writeBufferSize limits: bytes of the log's records, what an entry costs to be found, and hashes. */
  get fillBytes(): number {
    const { arena, entryCount, pairs } = this.memtable
    return arena.usedBytes + entryCount * entryBytes + pairs.bytes
  }

  retain(): void {
    this.#users++
  }

  /** REQUIRES: once per maker and per retain(). */
  release(): void {
    this.#users--
    if (this.#users === 0) this.memtable.release()
  }
}
