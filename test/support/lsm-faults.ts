/**
 * A trace on a file system whose Nth call fails, once or from then on. What must hold:
 *
 * 1. Every promise settles: writes are acknowledged or rejected with LEVEL_IO_ERROR, and after a rejection no write is
 *    accepted until the store is reopened.
 * 2. Reads see exactly the acknowledged writes, or fail with LEVEL_IO_ERROR.
 * 3. close() resolves, and no descriptor stays open, even after a failed open.
 * 4. The directory opens once the calls work again. Rejected writes may exist; all acknowledged ones do, or all durable
 *    ones if the power fails first.
 */
import * as assert from 'uvu/assert'
import { hasCode } from '../../src/lsm/errors.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import type { LsmLevel, StoreOptions } from '../../src/lsm/index.ts'
import { createRandom } from '../bloom/random.ts'
import { type Fault, FaultyFileSystem } from './faulty-file-system.ts'
import { checkRecovery } from './lsm-crash-check.ts'
import { contentOf, nextTurn, openStore } from './lsm-crash-points.ts'
import { asLevelOperation, History } from './lsm-history.ts'
import { randomTrace, type TraceStep } from './lsm-traces.ts'

export interface FaultCampaign {
  readonly options: StoreOptions
  readonly seed: number
  readonly length: number
  readonly isPersistent: boolean
}

/** Milliseconds within which a run must end. */
const patience = 60_000

/**
 * Fails the first call, the second, … until a run completes without reaching the fault.
 * @returns the number of calls that were failed
 */
export async function runFaultCampaign(campaign: FaultCampaign): Promise<number> {
  const { seed, length, isPersistent, options } = campaign
  const steps = randomTrace(length, createRandom(seed))
  for (let at = 1; ; at++) {
    const fault: Fault = { at, isPersistent, code: at % 2 === 0 ? 'EIO' : 'ENOSPC', isPartial: at % 3 === 0 }
    let timer: NodeJS.Timeout | undefined
    const tooLong = new Promise<never>((_, reject) => {
      timer = realSetTimeout(() => reject(new Error('takes too long')), patience)
    })
    try {
      const wasReached = await Promise.race([new FaultyRun(options, fault).run(steps, seed + at), tooLong])
      if (!wasReached) return at - 1
    } catch (error) {
      const { stack, cause } = error as Error
      const reason = cause === undefined ? '' : `\ncaused by ${String(cause)}`
      throw new Error(`seed ${seed}, ${JSON.stringify(fault)}: ${stack}${reason}`, { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }
}

class FaultyRun {
  readonly #disk = new MemoryFileSystem()
  readonly #fileSystem = new FaultyFileSystem(this.#disk)
  readonly #history = new History()
  readonly #options: StoreOptions
  readonly #fault: Fault
  #db: LsmLevel | undefined
  #acknowledged = 0
  #durable = 0
  /** Whether a write of this session has been rejected. */
  #isPoisoned = false

  constructor(options: StoreOptions, fault: Fault) {
    this.#options = options
    this.#fault = fault
  }

  /** @returns whether the fault was reached */
  async run(steps: readonly TraceStep[], seed: number): Promise<boolean> {
    this.#fileSystem.fail(this.#fault)
    await this.#open()
    for (const step of steps) {
      await this.#take(step)
      await this.#read()
    }
    await this.#close()
    const wasReached = this.#fileSystem.matches >= this.#fault.at
    this.#fileSystem.heal()
    await this.#checkWhatIsLeft(seed)
    return wasReached
  }

  async #take(step: TraceStep): Promise<void> {
    switch (step.kind) {
      case 'write':
        await Promise.all(
          step.batches.map(async (operations) => {
            if (this.#db === undefined) return
            const write = this.#history.begin(operations)
            const done = this.#db.batch(operations.map(asLevelOperation), { sync: step.sync })
            if (!(await this.#succeeds(done))) {
              this.#isPoisoned = true
              return
            }
            assert.not.ok(this.#isPoisoned, 'a write was accepted after one that was rejected')
            this.#acknowledged = write
            if (step.sync) this.#durable = write
          })
        )
        return
      case 'flush':
        await this.#makeDurable((db) => db.flush())
        return
      case 'compact':
        await this.#makeDurable((db) => db.compactRange('', '~'))
        return
      case 'clear':
        // engine-clear-faults.test.ts tests a failing clear().
        return
      case 'reopen':
        await this.#close()
        await this.#open()
        return
      case 'pause':
        for (let turn = 0; turn < step.turns; turn++) await nextTurn()
        return
      default:
        step satisfies never
    }
  }

  async #makeDurable(run: (db: LsmLevel) => Promise<void>): Promise<void> {
    const acknowledged = this.#acknowledged
    if (this.#db !== undefined && (await this.#succeeds(run(this.#db)))) this.#durable = acknowledged
  }

  async #succeeds(done: Promise<unknown>): Promise<boolean> {
    try {
      await done
      return true
    } catch (error) {
      if (!hasCode(error, 'LEVEL_IO_ERROR')) throw error
      assert.ok(this.#hasFailed, 'failed before any call did')
      return false
    }
  }

  get #hasFailed(): boolean {
    return this.#fileSystem.matches >= this.#fault.at
  }

  async #read(): Promise<void> {
    if (this.#db === undefined) return
    try {
      assert.is(await contentOf(this.#db), this.#history.stateAfter(this.#acknowledged), 'what is visible')
    } catch (error) {
      if (!hasCode(error, 'LEVEL_IO_ERROR')) throw error
      assert.ok(this.#hasFailed)
    }
  }

  async #close(): Promise<void> {
    await this.#db?.close()
    this.#db = undefined
    assert.equal(this.#fileSystem.openFiles, [], 'open after close()')
  }

  /** Tries twice if need be: a fault that occurs once must not prevent the second attempt. */
  async #open(): Promise<void> {
    for (let attempt = 0; attempt < 2 && this.#db === undefined; attempt++) {
      try {
        this.#db = await openStore(this.#fileSystem, this.#options)
      } catch (error) {
        const { cause } = error as Error
        if (!hasCode(cause, 'LEVEL_IO_ERROR')) throw error
        assert.ok(this.#hasFailed, 'failed before any call did')
        assert.equal(this.#fileSystem.openFiles, [], 'open after a failed open')
      }
    }
    if (this.#db === undefined) return
    if (this.#hasFailed) {
      // A second store on a copy of the disk shows which rejected writes exist.
      this.#acknowledged = await this.#prefixOn(this.#disk.snapshot(), this.#acknowledged)
      this.#history.cutTo(this.#acknowledged)
    }
    // Recovery makes durable what it returns.
    this.#durable = this.#acknowledged
    this.#isPoisoned = false
  }

  async #prefixOn(disk: MemoryFileSystem, atLeast: number): Promise<number> {
    const bounds = { atLeast, atMost: this.#history.length }
    return checkRecovery(disk, this.#options, this.#history, bounds, 'close')
  }

  async #checkWhatIsLeft(seed: number): Promise<void> {
    const generator = createRandom(seed)
    const random = (): number => generator.below(2 ** 32) / 2 ** 32
    const [worst = this.#disk] = this.#disk.crashStates()
    const crashed = generator.below(2) === 0 ? worst : this.#disk.crashClone({ random })
    await this.#prefixOn(crashed, this.#durable)
    await this.#prefixOn(this.#disk, this.#acknowledged)
  }
}

const realSetTimeout = globalThis.setTimeout

/** Makes timers fire after a fiftieth of their time, so that retries come soon. */
export function hurryTimers(): void {
  const hurried = (run: (...args: unknown[]) => void, milliseconds = 0, ...args: unknown[]): NodeJS.Timeout =>
    realSetTimeout(run, milliseconds / 50, ...args)
  globalThis.setTimeout = hurried as typeof setTimeout
}
