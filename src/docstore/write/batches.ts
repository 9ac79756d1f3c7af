/** Reads the documents that a write changes, and commits the changes in batches of bounded size. */
import { TimeSlice } from '../../model/time-slice.ts'
import { fromStore } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { Match } from '../read/confirmer.ts'
import type { Control } from '../read/control.ts'
import { beginReplacing, type CompiledFind, matchesOf } from '../read/find.ts'
import { matchById } from '../read/find-by-id.ts'
import { advance, end } from '../read/steps.ts'
import type { CommitKind } from '../watch/change.ts'
import { type Commit, isFull } from './commit.ts'
import type { DeleteRequest } from './mutation-request.ts'

/** The changes of one or more calls. REQUIRES: inside an exclusive task. */
export class Batches {
  readonly #collection: OpenCollection
  readonly #kind: CommitKind
  /** Of the work of all calls. */
  readonly timeSlice = new TimeSlice()
  #commit: Commit | undefined

  constructor(collection: OpenCollection, kind: CommitKind) {
    this.#collection = collection
    this.#kind = kind
  }

  /** The batch being prepared. */
  get commit(): Commit {
    this.#commit ??= this.#collection.committer.begin(this.#kind)
    return this.#commit
  }

  get isFull(): boolean {
    return this.#commit !== undefined && isFull(this.#commit)
  }

  /** Commits the batch, if there is one. */
  async flush(): Promise<void> {
    const commit = this.#commit
    this.#commit = undefined
    if (commit !== undefined) await this.#collection.committer.run(commit)
  }
}

/**
 * Calls `visit` for every match in order, and commits full batches between two of them; the caller commits the last one.
 * What is found is what was committed at the start. `visit` may be asynchronous.
 */
export async function forEachMatch(
  collection: OpenCollection,
  batches: Batches,
  { find, control }: DeleteRequest,
  visit: (match: Match) => void | Promise<void>
): Promise<void> {
  control.beginSlice()
  control.check()
  try {
    const match = matchById(collection, find, false)
    if (match === undefined) return await forEachFound(collection, batches, find, control, visit)
    if (match === null) return
    if (batches.timeSlice.isOver()) await batches.timeSlice.renew()
    await visit(match)
  } catch (error) {
    throw fromStore(error)
  }
}

async function forEachFound(
  collection: OpenCollection,
  batches: Batches,
  find: CompiledFind,
  control: Control,
  visit: (match: Match) => void | Promise<void>
): Promise<void> {
  const execution = beginReplacing(collection, find, control)
  const matches = matchesOf(execution, find)
  let remaining = find.limit
  try {
    while (remaining > 0) {
      const slice = await advance(matches)
      if (slice === undefined) break
      for (const match of slice) {
        if (batches.timeSlice.isOver()) await batches.timeSlice.renew()
        const visiting = visit(match)
        if (visiting instanceof Promise) await visiting
        if (--remaining === 0) break
        if (!batches.isFull) continue
        await batches.flush()
        await collection.writer.maintainIfDue()
      }
    }
  } finally {
    // Before the last batch is committed, which would have to copy live bitmaps that an open view still holds.
    end(matches)
    execution.view.close()
  }
}
