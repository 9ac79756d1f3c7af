/**
 * All that the store holds at one moment, in a form that can be written elsewhere while reads and writes go on here.
 *
 * Invariants:
 * 1. Taken in one synchronous step: tables and memtables together hold each entry up to `view.sequence` once, and none
 *    that came later.
 * 2. Until the view is released the tables' files stay, and so do the memtables' bytes.
 */
import type { ManifestState } from '../version/manifest-state.ts'
import type { Engine } from './engine.ts'
import type { EngineReadView } from './engine-read-view.ts'
import { flushJob, type PlannedJob } from './table-jobs.ts'

export interface CapturedState {
  /** The caller releases it. */
  readonly view: EngineReadView
  /** Writes what is in memory as tables of level 0; undefined when nothing is. Its directory is to be chosen. */
  readonly memory: PlannedJob | undefined
  readonly manifest: Pick<ManifestState, 'extractor' | 'pointers'>
}

export function captureState(engine: Engine): CapturedState {
  const { versions, options, directory } = engine
  const view = engine.view()
  // A memtable may have become tables and not been given up yet.
  const memtables = view.buffers
    .map(({ memtable }) => memtable)
    .filter(({ largestSequence }) => largestSequence > versions.lastSequence)
    .reverse()
  const memory = memtables.length === 0 ? undefined : flushJob(directory, memtables, view.version, [], options)
  return { view, memory, manifest: { extractor: versions.extractor, pointers: versions.compactionPointers } }
}
