/**
 * Commits what a transaction has changed: the batches of its collections are one batch of the store.
 *
 * Unique keys are checked here, when all documents that give theirs up have done so: they may move between documents.
 */
import { TimeSlice } from '../../model/time-slice.ts'
import { deferred } from '../deferred.ts'
import type { OrdinalChange } from '../watch/notify-streams.ts'
import type { Commit, SharedBatch } from '../write/commit.ts'
import type { StagedChange, StagedChanges } from './staged-changes.ts'

/** The part of one collection. */
interface Part extends Pick<StagedChanges, 'collection'> {
  readonly commit: Commit
}

/**
 * REQUIRES: the collections are held.
 * @throws PetalError DuplicateKey, CannotIndexParallelArrays, StoreFailure; nothing is then committed
 */
export async function commitChanges(collections: readonly StagedChanges[]): Promise<void> {
  const [any] = collections
  if (any === undefined) return
  const { store } = any.collection
  const applied = deferred()
  const shared: SharedBatch = { sink: store.newSink(), applied: applied.promise }
  const parts: Part[] = []
  try {
    for (const staged of collections) {
      const changes = await staged.changes()
      if (changes.length === 0) continue
      const { collection } = staged
      const part: Part = { collection, commit: collection.committer.beginPart(shared) }
      parts.push(part)
      await addChanges(part, changes)
    }
    const [first] = parts
    if (first === undefined) return
    for (const { collection, commit } of parts) await collection.committer.start(commit)
    store.commit(first.commit.batch).then(applied.resolve, applied.reject)
    await Promise.all(parts.map(({ commit }) => commit.done))
  } catch (error) {
    applied.reject(error)
    for (const { collection, commit } of parts) collection.committer.abandon(commit)
    throw error
  }
}

/** Ends all documents that are replaced or deleted, then adds the others in the order of their last changes. */
async function addChanges({ collection, commit }: Part, changes: readonly StagedChange[]): Promise<void> {
  const { committer, writer } = collection
  if (commit.entries?.needsLoad) {
    const documents = changes.flatMap(({ original, after }) => [original?.document, after?.document])
    await commit.entries.load(documents.filter((document) => document !== undefined))
  }
  const timeSlice = new TimeSlice()
  for (const { original, key } of changes) {
    if (timeSlice.isOver()) await timeSlice.renew()
    if (original !== undefined) committer.remove(commit, original, key)
  }
  for (const { after, key, kind } of changes) {
    if (timeSlice.isOver()) await timeSlice.renew()
    if (after === undefined) continue
    if (kind === 'insert') writer.noteId(key)
    committer.add(commit, after.document, key)
  }
  commit.changes = ordinalsOf(changes, commit)
}

function ordinalsOf(changes: readonly StagedChange[], { added, placed = added }: Commit): OrdinalChange[] {
  const ordinals = placed.values()
  return changes.map(({ kind, original, after }) => ({
    kind,
    before: original?.ordinal,
    after: after === undefined ? undefined : ordinals.next().value
  }))
}
