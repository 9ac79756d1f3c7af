/**
 * Captures the whole store at one moment, so that it can be written elsewhere while reads and writes continue.
 *
 * Invariants:
 * 1. Captured in one synchronous step: tables and memtables together hold each entry up to `view.sequence` once, and
 *    none written later.
 * 2. Until the view is released, the tables' files and the memtables' bytes stay.
 */
import type { ManifestState } from '../version/manifest-state.ts'
import type { Engine } from './engine.ts'
import type { EngineReadView } from './engine-read-view.ts'
import { flushJob, type PlannedJob } from './table-jobs.ts'

export interface CapturedState {
  /** Released by the caller. */
  readonly view: EngineReadView
  /**
   * The job that writes the memtables as level-0 tables; undefined if they are empty. The caller sets its directory.
   */
  readonly memtableJob: PlannedJob | undefined
  readonly manifest: Pick<ManifestState, 'extractor' | 'pointers'>
}

export function captureState(engine: Engine): CapturedState {
  const { versions, options, directory } = engine
  const view = engine.view()
  // A memtable may already have been flushed without being released yet.
  const memtables = view.buffers
    .map(({ memtable }) => memtable)
    .filter(({ largestSequence }) => largestSequence > versions.lastSequence)
    .reverse()
  const memory = memtables.length === 0 ? undefined : flushJob(directory, memtables, view.version, [], options)
  return {
    view,
    memtableJob: memory,
    manifest: { extractor: versions.extractor, pointers: versions.compactionPointers }
  }
}
