/** Lets another thread read the store as it is now, or as it was at a snapshot: see thread-view/. */
import { withOwnedKeys } from '../compaction/job-message.ts'
import type { Range } from '../read/range.ts'
import type { ViewData } from '../thread-view/view-data.ts'
import type { Engine } from './engine.ts'
import type { Moment } from './snapshots.ts'

/** A range of the store at one moment. */
export interface SharedView {
  readonly data: ViewData
  /** REQUIRES: no thread reads it any more. */
  release(): void
}

/**
 * @param range the keys needed
 * @param at by default now
 */
export function shareView(engine: Engine, range: Range, at?: Moment): SharedView {
  const view = engine.view(at)
  const memtables = view.buffers.map(({ memtable }) => memtable).filter(({ isEmpty }) => !isEmpty)
  const data: ViewData = {
    directory: engine.directory,
    sequence: view.sequence,
    memtables: memtables.map((memtable) => ({ ...memtable.snapshot(), pairs: undefined })),
    runs: view.runs(range).map((run) => run.map(withOwnedKeys))
  }
  return { data, release: () => view.release() }
}
