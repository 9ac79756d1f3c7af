/** An explicit snapshot: a fixed view of the store until it is closed. */
import { AbstractSnapshot } from 'abstract-level'
import type { Engine } from './engine/engine.ts'
import type { Moment, Snapshot } from './engine/snapshots.ts'
import { snapshotNotOpen } from './errors.ts'

/** AbstractSnapshot's declared constructor omits its required argument. */
type SnapshotConstructor = new (options: object) => AbstractSnapshot
const Base = AbstractSnapshot as unknown as SnapshotConstructor

export class LsmSnapshot extends Base {
  readonly #engine: Engine
  readonly #moment: Snapshot
  #isClosed = false

  /** @param options from abstract-level: they name the owner, which closes the snapshot when it closes itself */
  constructor(engine: Engine, options: object) {
    super(options)
    this.#engine = engine
    this.#moment = engine.snapshots.acquire()
  }

  /** The moment that reads of its owner see. @throws LEVEL_SNAPSHOT_NOT_OPEN, TypeError for another database */
  momentIn(engine: Engine): Moment {
    if (this.#isClosed) throw snapshotNotOpen()
    if (engine !== this.#engine) throw new TypeError("The option 'snapshot' belongs to another database")
    return this.#moment
  }

  /** Called once by the base class, when no read uses the snapshot any more. */
  async _close(): Promise<void> {
    this.#isClosed = true
    this.#engine.snapshots.release(this.#moment)
  }
}
