/**
 * Seals open segments early when memory runs short. The open segments of all indexes share one row memory; when little
 * of it is left, the least recently written ones are sealed before they are full, because rows of sealed segments are
 * in the row cache, which can give frames back at any time.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'

/** Share of all frames below which memory is short: enough for what is added before the next check. */
const lowShare = 1 / 8
/** Milliseconds. Limits the wait, because what waits for a seal may be what the seal waits for. */
const longestWait = 1000

/** The owner of an open segment. */
export interface EarlySealer {
  /** Whether its open segment has rows and is not being sealed already. */
  readonly canSealEarly: boolean
  /** Resolves when the segment is sealed, or cannot be. */
  sealEarly(): Promise<void>
}

export class EarlySeals {
  static readonly #all = new WeakMap<RowMemory, EarlySeals>()
  readonly #memory: RowMemory
  /** In order of their last write, the most recent one last. */
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

  /** Registers the sealer as the one written to most recently. */
  note(sealer: EarlySealer): void {
    this.#sealers.delete(sealer)
    this.#sealers.add(sealer)
  }

  delete(sealer: EarlySealer): void {
    this.#sealers.delete(sealer)
  }

  /**
   * Call before rows are added: has others' segments sealed while memory is short. Returns a promise only then.
   * @param requester its own segment is spared; it does not wait while its segment is being sealed
   */
  makeRoom(requester?: EarlySealer): Promise<void> | undefined {
    if (!this.#isMemoryShort || (requester !== undefined && this.#sealing.has(requester))) return undefined
    return this.#sealOthers(requester)
  }

  get #isMemoryShort(): boolean {
    const low = this.#memory.frames * lowShare
    // Summing up what caches hold only when it matters: there may be thousands of them.
    return this.#memory.freeFrames < low && this.#memory.availableFrames < low
  }

  async #sealOthers(requester: EarlySealer | undefined): Promise<void> {
    while (this.#isMemoryShort) {
      const sealer = this.#next(requester)
      if (sealer === undefined) return
      this.#sealing.add(sealer)
      await withTimeout(longestWait, sealer.sealEarly())
      this.#sealing.delete(sealer)
    }
  }

  #next(requester: EarlySealer | undefined): EarlySealer | undefined {
    for (const sealer of this.#sealers) if (sealer !== requester && sealer.canSealEarly) return sealer
    return undefined
  }
}

/** @param milliseconds the longest wait */
function withTimeout(milliseconds: number, promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    const end = (): void => {
      clearTimeout(timer)
      resolve()
    }
    promise.then(end, end)
  })
}
