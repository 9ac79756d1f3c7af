/**
 * A run of a pipeline with a final writing stage: a single pull, which returns nothing and resolves when everything is
 * written.
 *
 * Invariant: the cursor, the signal and the time limit end it like any other run; what is written by then depends on
 * the stage.
 */
import type { WriteStage } from '../../aggregate/stage.ts'
import { AbortedError } from '../../model/errors.ts'
import type { Collections } from '../collections.ts'
import type { CursorRun } from '../read/sliced-cursor.ts'
import { writeMerge } from './merge.ts'
import { writeOut } from './out.ts'
import type { AggregationRun } from './run.ts'

/** What pipelines need of the collections of a database. */
export type PipelineCollections = Pick<Collections, 'openForRead' | 'declared' | 'assertWritable' | 'write' | 'replace'>

export class WritingRun implements CursorRun {
  readonly #run: AggregationRun
  readonly #stage: WriteStage
  readonly #collections: PipelineCollections
  #writing: Promise<undefined> | undefined
  #isOver = false

  constructor(run: AggregationRun, stage: WriteStage, collections: PipelineCollections) {
    this.#run = run
    this.#stage = stage
    this.#collections = collections
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get views(): { close(): void } {
    return this.#run.views
  }

  next(): Promise<undefined> {
    this.#writing ??= this.#write()
    return this.#writing
  }

  close(): void {
    this.#isOver = true
    this.#run.close()
  }

  async #write(): Promise<undefined> {
    const stage = this.#stage
    try {
      if (stage.kind === 'out') await writeOut(this.#run, stage, this.#collections, () => this.#assertWanted())
      else await writeMerge(this.#run, stage, this.#collections, () => this.#assertWanted())
    } catch (error) {
      // Closed by its own reader: the error is of no interest.
      if (!this.#isOver) throw error
    } finally {
      this.close()
    }
  }

  /** @throws AbortedError, PetalError MaxTimeMSExpired */
  #assertWanted(): void {
    if (this.#isOver) throw new AbortedError()
    this.#run.control.check()
  }
}
