/** Slows writers down or stops them according to back-pressure.ts, and counts their waits. */
import { deepestPartition } from '../compaction/level0-runs.ts'
import type { ResolvedOptions } from '../options.ts'
import type { TableMeta } from '../version/table-meta.ts'
import {
  mayRotate,
  nextFlushRate,
  type PressureLimits,
  type WriteLoad,
  WritePacer,
  writeRate
} from './back-pressure.ts'
import type { EngineCounters, WaitCounts } from './counters.ts'

/** Frozen memtables that may wait for a flush. */
const maxPendingMemtables = 3

export class WriteController {
  readonly #limits: PressureLimits
  readonly #partitionDepth: number
  readonly #counters: EngineCounters
  readonly #pacer = new WritePacer()
  #level0: readonly TableMeta[]
  /** The partition with most runs in level 0; undefined until a write needs it. */
  #deepest: ReturnType<typeof deepestPartition> | undefined
  #flushRate = Number.POSITIVE_INFINITY

  /** @param level0 tables of level 0 */
  constructor(options: ResolvedOptions, counters: EngineCounters, level0: readonly TableMeta[]) {
    this.#limits = { maxPendingMemtables, ...level0Limits(options) }
    this.#partitionDepth = options.partitionDepth
    this.#counters = counters
    this.#level0 = level0
  }

  /** The tables of level 0 have changed. */
  onInstalled(level0: readonly TableMeta[]): void {
    this.#level0 = level0
    this.#deepest = undefined
  }

  /** `bytes` of memtables were flushed in `milliseconds`, excluding overlap with the previous flush. */
  onFlushed(bytes: number, milliseconds: number): void {
    this.#flushRate = nextFlushRate(this.#flushRate, bytes, milliseconds)
  }

  /** Whether the active memtable may be frozen now; counts a stall if not. */
  mayActivate(pendingMemtables: number): boolean {
    if (mayRotate(this.#load(pendingMemtables), this.#limits)) return true
    this.#waits(this.#limits.level0StopTrigger).stalls++
    return false
  }

  /** Milliseconds that a write of `bytes` has to wait first. */
  delay(bytes: number, pendingMemtables: number): number {
    const rate = writeRate(this.#load(pendingMemtables), this.#limits)
    if (rate === Number.POSITIVE_INFINITY) return 0
    const milliseconds = this.#pacer.delay(bytes, rate, performance.now())
    if (milliseconds > 0) {
      const waits = this.#waits(this.#limits.level0SlowdownTrigger)
      waits.slowdowns++
      waits.slowdownMilliseconds += milliseconds
    }
    return milliseconds
  }

  get #deepestPartition(): ReturnType<typeof deepestPartition> {
    this.#deepest ??= deepestPartition(this.#level0, this.#partitionDepth)
    return this.#deepest
  }

  #load(pendingMemtables: number): WriteLoad {
    return { pendingMemtables, level0Runs: this.#deepestPartition.runs, flushRate: this.#flushRate }
  }

  /** The counter to charge: the deepest partition of level 0 if at its trigger, otherwise memtables. */
  #waits(level0Trigger: number): WaitCounts {
    const { name, runs } = this.#deepestPartition
    return runs >= level0Trigger ? this.#counters.waitsFor(name) : this.#counters.memtableWaits
  }
}

/** Where nothing is merged by itself, writers would wait for ever, and so would compactRange(), which flushes first. */
function level0Limits({ autoCompaction, level0SlowdownTrigger, level0StopTrigger }: ResolvedOptions) {
  if (autoCompaction) return { level0SlowdownTrigger, level0StopTrigger }
  return { level0SlowdownTrigger: Number.POSITIVE_INFINITY, level0StopTrigger: Number.POSITIVE_INFINITY }
}
