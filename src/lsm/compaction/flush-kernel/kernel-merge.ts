/**
 * The main loop of a flush in the kernel, the counterpart of JobMerge for other jobs: it decides where tables end, and
 * writes them.
 */
import type { TableJob } from '../job.ts'
import type { Pace } from '../job-queue.ts'
import { OutputBoundaries } from '../output-boundaries.ts'
import type { TableOutputs } from '../table-outputs.ts'
import { FlushKernel } from './flush-kernel.ts'
import { Built } from './kernel-functions.ts'
import { KernelTable } from './kernel-table.ts'

/** Entries sorted without a pause: a millisecond or two at most. */
const sortedAtOnce = 16_384
/** Work without a pause, in bytes of keys and values plus 256 for each entry: less than a millisecond. */
const builtAtOnce = 256 * 1024

export class KernelMerge {
  readonly #job: TableJob
  readonly #kernel: FlushKernel
  readonly #outputs: TableOutputs
  readonly #boundaries: OutputBoundaries
  #table: KernelTable | undefined
  #hasLastKey = false
  #isClosed = false

  private constructor(job: TableJob, kernel: FlushKernel, outputs: TableOutputs) {
    this.#job = job
    this.#kernel = kernel
    this.#outputs = outputs
    this.#boundaries = new OutputBoundaries(job, outputs)
    kernel.begin()
  }

  /** Undefined if the kernel cannot do this job. @throws LEVEL_ABORTED if the job was cancelled */
  static async open(job: TableJob, outputs: TableOutputs, pace: Pace): Promise<KernelMerge | undefined> {
    const kernel = FlushKernel.take(job)
    if (kernel === undefined) return undefined
    try {
      while (kernel.functions.orderSome(sortedAtOnce) !== 0) {
        const pause = pace.yieldIfDue()
        if (pause !== undefined) await pause
      }
    } catch (error) {
      kernel.release()
      throw error
    }
    return new KernelMerge(job, kernel, outputs)
  }

  /** Does some 500 µs of work; false when there is none left. @throws LEVEL_IO_ERROR */
  runSlice(): boolean {
    switch (this.#kernel.functions.build(builtAtOnce)) {
      case Built.border:
        this.#handleNextKey()
        return true
      case Built.outputFull:
        this.#table?.writeBlocks()
        return true
      case Built.slice:
        return true
      default:
        return false
    }
  }

  /** Releases the kernel. REQUIRES: no table is open, or it will not be finished. May be called twice. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#kernel.release()
  }

  /** Handles the next key: a table may have to end before it. */
  #handleNextKey(): void {
    const { functions, bytes, endKeys } = this.#kernel
    const [start, length] = [functions.nextKey.value, functions.nextLength.value]
    const lastKey = this.#kernel.range(functions.lastKey.value, functions.lastLength.value)
    const boundaries = this.#boundaries
    boundaries.advance(
      lastKey,
      this.#hasLastKey ? lastKey.length : -1,
      bytes,
      start,
      start + length,
      functions.nextShared.value
    )
    this.#hasLastKey = true
    if (this.#outputs.isOpen && boundaries.isDue && !this.#outputs.isLast) this.#outputs.end()
    if (!this.#outputs.isOpen) {
      boundaries.begin()
      this.#table = this.#outputs.begin((file, number) => new KernelTable(this.#kernel, file, number, this.#job.table))
    }
    const end = endKeys[boundaries.nextEnd]
    const shared = Math.min(boundaries.partitionPrefixLength, 0xffff_ffff)
    functions.cross(shared, end !== undefined, end?.at ?? 0, end?.length ?? 0)
  }
}
