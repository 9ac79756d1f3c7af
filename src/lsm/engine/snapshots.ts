/**
 * Moments that somebody goes on reading at. Compactions keep what these can see.
 *
 * Invariants:
 * 1. Snapshots are taken in ascending order of their sequence numbers, because each is of the newest state; the order of
 *    insertion is therefore the numeric order.
 * 2. What a snapshot sees is in the tables and memtables of the present, or, once tables are dropped as a whole or
 *    ingested, in those that it holds on to: sequence numbers do not tell that it is older than what was ingested.
 */
import type { TableCache } from '../version/table-cache.ts'
import type { Version } from '../version/version.ts'
import type { EngineReadView } from './engine-read-view.ts'
import type { Places } from './point-reads.ts'
import type { WriteBuffer } from './write-buffer.ts'

/** Where to read, and up to which sequence number: a snapshot, or the engine, which is the present. */
export interface Moment extends Places {
  readonly sequence: number
}

/** What snapshots need of the engine. */
export interface SnapshotsHost extends Moment {
  /** Keeps the places of a moment as they are now. */
  view(at: Moment): EngineReadView
}

export class Snapshot implements Moment {
  readonly sequence: number
  readonly #host: SnapshotsHost
  #held: EngineReadView | undefined

  constructor(host: SnapshotsHost) {
    this.sequence = host.sequence
    this.#host = host
  }

  get buffers(): readonly WriteBuffer[] {
    return (this.#held ?? this.#host).buffers
  }

  get version(): Version {
    return (this.#held ?? this.#host).version
  }

  get tables(): TableCache {
    return this.#host.tables
  }

  /** Reads where it reads now from here on, whatever becomes of the present. */
  hold(): void {
    this.#held ??= this.#host.view(this)
  }

  /** REQUIRES: no read uses it any more. */
  release(): void {
    this.#held?.release()
  }
}

export class Snapshots {
  readonly #host: SnapshotsHost
  readonly #open = new Set<Snapshot>()
  /** Drops and ingests of tables that are on their way. */
  #edits = 0

  constructor(host: SnapshotsHost) {
    this.#host = host
  }

  /** Of the newest state. */
  acquire(): Snapshot {
    const snapshot = new Snapshot(this.#host)
    if (this.#edits > 0) snapshot.hold()
    this.#open.add(snapshot)
    return snapshot
  }

  /** REQUIRES: once per acquire(). */
  release(snapshot: Snapshot): void {
    this.#open.delete(snapshot)
    snapshot.release()
  }

  /** Whoever has a snapshot by the time that tables are dropped, or ingested, goes on seeing what was there before. */
  async throughEdit<T>(edit: () => Promise<T>): Promise<T> {
    this.#edits++
    for (const snapshot of this.#open) snapshot.hold()
    try {
      return await edit()
    } finally {
      this.#edits--
    }
  }

  /** Their sequence numbers, ascending, each once. */
  live(): number[] {
    return [...new Set([...this.#open].map(({ sequence }) => sequence))]
  }
}
