/**
 * The open segments of all indexes share one row memory. Where little of it is left, those that nobody has written to for
 * longest are sealed before they are full: rows of sealed segments are in the row cache, which gives frames back at any time.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'

/** Of all frames. What is added before the next look has room in it. */
const lowShare = 1 / 8
/** What waits for a seal may be what the seal waits for. */
const longestWait = 1000

/** Who has an open segment. */
export interface EarlySealer {
  /** Whether its open segment has rows, and is not being sealed already. */
  readonly canSealEarly: boolean
  /** Resolves when the segment is sealed, or cannot be. */
  sealEarly(): Promise<void>
}

export class EarlySeals {
  static readonly #all = new WeakMap<RowMemory, EarlySeals>()
  readonly #memory: RowMemory
  /** Whoever was written to last is the last one. */
  readonly #sealers = new Set<EarlySealer>()
  readonly #sealing = new Set<EarlySealer>()

  private constructor(memory: RowMemory) {
    this.#memory = memory
  }

  static of(memory: RowMemory): EarlySeals {
    const found = EarlySeals.#all.get(memory) ?? new EarlySeals(memory)
    EarlySeals.#all.set(memory, found)
    return found
  }

  /** The sealer is there, and was written to just now. */
  note(sealer: EarlySealer): void {
    this.#sealers.delete(sealer)
    this.#sealers.add(sealer)
  }

  delete(sealer: EarlySealer): void {
    this.#sealers.delete(sealer)
  }

  /**
   * Before rows are added: has others' segments sealed while memory is short. A promise only where it is.
   * @param asking whose own segment stays, and who does not wait while it is the one that is sealed
   */
  makeRoom(asking?: EarlySealer): Promise<void> | undefined {
    if (!this.#isShort || (asking !== undefined && this.#sealing.has(asking))) return undefined
    return this.#sealOthers(asking)
  }

  get #isShort(): boolean {
    const low = this.#memory.frames * lowShare
    // What caches hold is summed up where it matters alone: there may be thousands.
    return this.#memory.freeFrames < low && this.#memory.availableFrames < low
  }

  async #sealOthers(asking: EarlySealer | undefined): Promise<void> {
    while (this.#isShort) {
      const sealer = this.#next(asking)
      if (sealer === undefined) return
      this.#sealing.add(sealer)
      await within(longestWait, sealer.sealEarly())
      this.#sealing.delete(sealer)
    }
  }

  #next(asking: EarlySealer | undefined): EarlySealer | undefined {
    for (const sealer of this.#sealers) if (sealer !== asking && sealer.canSealEarly) return sealer
    return undefined
  }
}

/** @param milliseconds to wait at most */
function within(milliseconds: number, promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    const end = (): void => {
      clearTimeout(timer)
      resolve()
    }
    promise.then(end, end)
  })
}
