/**
 * Open snapshots. Compactions keep the versions that they can see.
 *
 * Invariants:
 * 1. Snapshots are taken in ascending order of their sequence numbers, because each is of the newest state; insertion
 *    order is therefore numeric order.
 * 2. A snapshot reads the current tables and memtables, or, once tables are dropped whole or ingested, those that it
 *    holds on to: its sequence number cannot tell that it is older than the ingested entries.
 */
import type { GapMoment } from '../read/gaps.ts'
import type { TableCache } from '../version/table-cache.ts'
import type { Version } from '../version/version.ts'
import type { EngineReadView } from './engine-read-view.ts'
import type { Places } from './point-reads.ts'
import type { WriteBuffer } from './write-buffer.ts'

/** Where to read, and up to which sequence number: a snapshot, or the engine as the present. */
export interface Moment extends Places, GapMoment {}

/** What snapshots need of the engine. */
export interface SnapshotsHost extends Moment {
  /** Retains the places of a moment as they are now. */
  view(at: Moment): EngineReadView
  /** What a snapshot held back may be due. */
  onSnapshotReleased(): void
}

export class Snapshot implements Moment {
  readonly sequence: number
  readonly epoch: number | undefined
  readonly #host: SnapshotsHost
  #held: EngineReadView | undefined

  constructor(host: SnapshotsHost) {
    this.sequence = host.sequence
    this.epoch = host.epoch
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

  /** Pins the current places: later changes no longer affect this snapshot. */
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
  /** Drops and ingests of tables in progress. */
  #edits = 0
  #epoch = 0

  constructor(host: SnapshotsHost) {
    this.#host = host
  }

  /** See GapMoment. */
  get epoch(): number | undefined {
    return this.#edits > 0 ? undefined : this.#epoch
  }

  /** A snapshot of the newest state. */
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
    this.#host.onSnapshotReleased()
  }

  /** Runs a drop or an ingest of tables such that snapshots open before its end keep seeing the earlier state. */
  async holdDuring<T>(edit: () => Promise<T>): Promise<T> {
    this.#edits++
    this.#epoch++
    for (const snapshot of this.#open) snapshot.hold()
    try {
      return await edit()
    } finally {
      this.#edits--
    }
  }

  /** The sequence number of the oldest open snapshot. */
  get oldest(): number | undefined {
    for (const { sequence } of this.#open) return sequence
    return undefined
  }

  /** The sequence numbers of open snapshots, ascending, without duplicates. */
  live(): number[] {
    return [...new Set([...this.#open].map(({ sequence }) => sequence))]
  }
}
