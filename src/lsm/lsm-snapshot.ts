/** An explicit snapshot: what is seen through it stays until it is closed. */
import { AbstractSnapshot } from 'abstract-level'
import type { Engine } from './engine/engine.ts'
import type { Snapshot } from './engine/snapshots.ts'

/** AbstractSnapshot's declared constructor lacks the argument that it requires. */
type SnapshotConstructor = new (options: object) => AbstractSnapshot
const Base = AbstractSnapshot as unknown as SnapshotConstructor

export class LsmSnapshot extends Base {
  readonly moment: Snapshot
  readonly #engine: Engine

  /** @param options as abstract-level hands them on: the owner, which closes the snapshot when it closes itself */
  constructor(engine: Engine, options: object) {
    super(options)
    this.#engine = engine
    this.moment = engine.snapshots.acquire()
  }

  /** Called once by the base class, when no read uses the snapshot any more. */
  async _close(): Promise<void> {
    this.#engine.snapshots.release(this.moment)
  }
}
