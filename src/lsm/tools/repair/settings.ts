/** The common context of a repair's steps: directory, options, and numbers for new files. */
import type { JobRunner, TableJob } from '../../compaction/job.ts'
import { partitionRules } from '../../compaction/own-partitions.ts'
import { nextTurn } from '../../engine/event-loop-turn.ts'
import { tableWriteOptions } from '../../engine/table-jobs.ts'
import { aborted } from '../../errors.ts'
import { levelCount } from '../../format/version-edit.ts'
import type { FileSystem } from '../../fs/file-system.ts'
import type { ResolvedOptions } from '../../options.ts'
import type { TableMeta } from '../../version/table-meta.ts'
import type { Losses } from './losses.ts'

export interface RepairSettings {
  readonly fileSystem: FileSystem
  /** Real path. */
  readonly directory: string
  readonly options: ResolvedOptions
  readonly runner: JobRunner
  readonly losses: Losses
  readonly numbers: FileNumbers
  readonly signal: AbortSignal | undefined
}

/** @throws LEVEL_ABORTED */
export function checkAborted({ signal }: { readonly signal?: AbortSignal | undefined }): void {
  if (signal?.aborted === true) throw aborted(signal.reason)
}

/** Resolves in the next turn of the event loop. @throws LEVEL_ABORTED */
export async function passTurn(settings: RepairSettings): Promise<void> {
  await nextTurn()
  checkAborted(settings)
}

export class FileNumbers {
  #next: number

  /** @param first greater than every number in the directory */
  constructor(first: number) {
    this.#next = first
  }

  /** The next number to be handed out. */
  get next(): number {
    return this.#next
  }

  /** Reserves numbers; returns the first. */
  take(count = 1): number {
    const first = this.#next
    this.#next += count
    return first
  }
}

/** Outputs beyond what a merge's bytes suggest. */
const spareNumbers = 16

/** A job that rewrites runs as tables that do not overlap; tombstones stay. */
export function rewriteJob(
  { directory, options, numbers }: RepairSettings,
  runs: readonly (readonly TableMeta[])[]
): TableJob {
  const { maxFileSize } = options
  const bytes = runs.flat().reduce((sum, table) => sum + Math.max(table.bytes, table.rawBytes), 0)
  const reservedNumbers = spareNumbers + 2 * Math.ceil(bytes / maxFileSize)
  return {
    kind: 'compaction',
    directory,
    memtables: [],
    runs,
    snapshots: [],
    deeper: undefined,
    grandparents: [],
    maxGrandparentBytes: Number.POSITIVE_INFINITY,
    endAfter: [],
    firstNumber: numbers.take(reservedNumbers),
    reservedNumbers,
    maxFileBytes: maxFileSize,
    partitions: partitionRules(options, runs),
    // Tables without overlap will soon be moved to the last level unchanged.
    table: tableWriteOptions(options, levelCount - 1)
  }
}
