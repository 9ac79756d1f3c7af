/** An explicit snapshot: a sequence number that compactions respect until it is closed. */
import { AbstractSnapshot } from 'abstract-level'
import type { Engine } from './engine/engine.ts'

/** AbstractSnapshot's declared constructor lacks the argument that it requires. */
type SnapshotConstructor = new (options: object) => AbstractSnapshot
const Base = AbstractSnapshot as unknown as SnapshotConstructor

export class LsmSnapshot extends Base {
  /** What is seen through it: everything up to this sequence number. */
  readonly sequence: number
  readonly #engine: Engine

  /** @param options as abstract-level hands them on: the owner, which closes the snapshot when it closes itself */
  constructor(engine: Engine, options: object) {
    super(options)
    this.#engine = engine
    this.sequence = engine.sequence
    engine.snapshots.acquire(this.sequence)
  }

  /** Called once by the base class, when no read uses the snapshot any more. */
  async _close(): Promise<void> {
    this.#engine.snapshots.release(this.sequence)
  }
}
