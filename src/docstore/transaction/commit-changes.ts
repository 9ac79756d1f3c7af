/**
 * Commits what a transaction has changed: the batches of its collections are one batch of the store.
 *
 * Unique keys are checked here, when all documents that give theirs up have done so: they may move between documents.
 * Nothing takes an ordinal before all documents of all collections are admitted: one that is not committed stays in the
 * index as a dead document.
 */
import { TimeSlice } from '../../model/time-slice.ts'
import { deferred } from '../deferred.ts'
import type { AdmittedEntries } from '../indexes/entry-writes.ts'
import type { OrdinalChange } from '../watch/notify-streams.ts'
import type { Commit, SharedBatch } from '../write/commit.ts'
import type { StagedChange, StagedChanges } from './staged-changes.ts'

/** The part of one collection. */
interface Part extends Pick<StagedChanges, 'collection'> {
  readonly commit: Commit
  readonly changes: readonly StagedChange[]
  /** Index entries of the documents that will be there, in the order of the changes. */
  readonly admitted: (AdmittedEntries | undefined)[]
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
      const part: Part = { collection, commit: collection.committer.beginPart(shared), changes, admitted: [] }
      parts.push(part)
      await admitChanges(part)
    }
    const [first] = parts
    if (first === undefined) return
    for (const part of parts) await addChanges(part)
    for (const { collection, commit } of parts) await collection.committer.start(commit)
    store.commit(first.commit.batch).then(applied.resolve, applied.reject)
    await Promise.all(parts.map(({ commit }) => commit.done))
  } catch (error) {
    applied.reject(error)
    for (const { collection, commit } of parts) collection.committer.abandon(commit)
    throw error
  }
}

/** Ends all documents that are replaced or deleted, then admits the others. @throws PetalError for one that may not be there */
async function admitChanges({ collection: { committer }, commit, changes, admitted }: Part): Promise<void> {
  if (commit.entries?.needsLoad) {
    const documents = changes.flatMap(({ original, after }) => [original?.document, after?.document])
    await commit.entries.load(documents.filter((document) => document !== undefined))
  }
  const timeSlice = new TimeSlice()
  for (const { original, key } of changes) {
    if (timeSlice.isOver()) await timeSlice.renew()
    if (original !== undefined) committer.remove(commit, original, key)
  }
  for (const { after } of changes) {
    if (timeSlice.isOver()) await timeSlice.renew()
    if (after !== undefined) admitted.push(committer.admit(commit, after.document))
  }
}

/** Adds the documents that will be there, in the order of their last changes. REQUIRES: they are admitted */
async function addChanges({ collection: { committer, writer }, commit, changes, admitted }: Part): Promise<void> {
  let next = 0
  const timeSlice = new TimeSlice()
  for (const { after, key, kind } of changes) {
    if (timeSlice.isOver()) await timeSlice.renew()
    if (after === undefined) continue
    if (kind === 'insert') writer.noteId(key)
    committer.addAdmitted(commit, after.document, key, admitted[next++])
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
