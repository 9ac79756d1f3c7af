/**
 * Updates and deletions: reads from a view captured at the start, and writes in batches of bounded size.
 *
 * Invariants:
 * 1. Runs alone in the collection's write queue, so what was read is what is replaced.
 * 2. A document is changed at most once: the operation's own writes are above its view's limit.
 * 3. When a document cannot be changed, the ones before it stay changed, and it and the ones after it do not, as in
 *    MongoDB.
 */
import { encodeKey } from '../../model/key.ts'
import { yieldIfDue } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import { storedForm } from '../documents/stored-form.ts'
import { fromStore } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { Match } from '../read/confirmer.ts'
import { Control } from '../read/control.ts'
import { beginFind, matchesOf } from '../read/find.ts'
import { Meter } from '../read/meter.ts'
import { advance, end } from '../read/steps.ts'
import type { CommitKind } from '../watch/change.ts'
import { type Commit, isFull } from './commit.ts'
import type { DeleteRequest, UpdateRequest } from './mutation-request.ts'

export interface Updated {
  readonly matched: number
  readonly modified: number
  readonly upsertedId: unknown
  readonly hasUpserted: boolean
  /** The requested version of the first matched document, or of the upserted one. */
  readonly returned: Document | undefined
}

/** Updates up to `find.limit` matches, or upserts a document. */
export function update(collection: OpenCollection, request: UpdateRequest): Promise<Updated> {
  return collection.writer.exclusive(async () => {
    if (request.ready !== undefined) await request.ready()
    const now = new Date()
    let matched = 0
    let modified = 0
    let returned: Document | undefined
    await forEachMatch(collection, request.kind, request, (commit, match) => {
      const changed = storedForm(request.change(match.document, { isInsert: false, now }))
      // Before anything is written, because a projection may fail.
      if (matched === 0) returned = request.returns?.(match.document, changed)
      const write = (): void => {
        if (collection.committer.replace(commit, match, changed, encodeKey(match.document._id))) modified++
        matched++
      }
      if (!commit.entries?.needsLoad) return write()
      return commit.entries.load([match.document, changed]).then(write)
    })
    if (matched > 0 || request.upsertSeed === undefined) {
      return { matched, modified, upsertedId: null, hasUpserted: false, returned }
    }
    const inserted = collection.writer.withId(request.change(request.upsertSeed(), { isInsert: true, now }))
    returned = request.returns?.(undefined, inserted)
    const [upsertedId] = await collection.writer.insertExclusive([inserted])
    return { matched, modified, upsertedId, hasUpserted: true, returned }
  })
}

/** Deletes up to `find.limit` matches. */
export function remove(
  collection: OpenCollection,
  request: DeleteRequest
): Promise<{ readonly deleted: number; readonly returned: Document | undefined }> {
  return collection.writer.exclusive(async () => {
    let deleted = 0
    let returned: Document | undefined
    await forEachMatch(collection, 'delete', request, (commit, match) => {
      if (deleted === 0) returned = request.returns?.(match.document, undefined)
      const write = (): void => {
        collection.committer.remove(commit, match, encodeKey(match.document._id))
        deleted++
      }
      if (!commit.entries?.needsLoad) return write()
      return commit.entries.load([match.document]).then(write)
    })
    return { deleted, returned }
  })
}

/**
 * Calls `visit` for every match in order, passing the batch for its writes, and commits the batches. `visit` may be
 * asynchronous.
 */
async function forEachMatch(
  collection: OpenCollection,
  kind: CommitKind,
  { find, options }: DeleteRequest,
  visit: (commit: Commit, match: Match) => void | Promise<void>
): Promise<void> {
  const { committer, writer } = collection
  const execution = beginFind(collection, find, new Control(options), new Meter())
  const matches = matchesOf(execution, find)
  let remaining = find.limit
  let commit: Commit | undefined
  let sliceStart = performance.now()
  const close = (): void => {
    end(matches)
    execution.view.close()
  }
  const flush = async (): Promise<void> => {
    const full = commit
    commit = undefined
    if (full !== undefined) await committer.run(full)
  }
  try {
    while (remaining > 0) {
      const slice = await advance(matches)
      if (slice === undefined) break
      for (const match of slice) {
        const turn = yieldIfDue(sliceStart)
        sliceStart = turn instanceof Promise ? await turn : turn
        commit ??= committer.begin(kind)
        const visiting = visit(commit, match)
        if (visiting instanceof Promise) await visiting
        if (--remaining === 0) break
        if (!isFull(commit)) continue
        await flush()
        await writer.maintainIfDue()
      }
    }
    // The commit would have to copy live bitmaps that an open view still holds.
    close()
    await flush()
  } catch (error) {
    await flush()
    throw fromStore(error)
  } finally {
    close()
  }
}
