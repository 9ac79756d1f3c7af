/**
 * Tells streams what a batch has changed, from what the store holds: a writer prepares nothing for it, and what is told is what
 * was committed.
 *
 * Invariants:
 * 1. Read while the batch is the last one applied: records after it as committed now, records before it in the snapshot that
 *    was taken before it.
 * 2. It never fails: a record that cannot be read ends the streams.
 */
import { breathe, nextTurn } from '../../model/time-slice.ts'
import { decodeRecord } from '../documents/record.ts'
import { fromStore } from '../errors.ts'
import type { CollectionStore } from '../store/collection-store.ts'
import type { SharedSnapshot } from '../store/snapshots.ts'
import type { TextReadOptions } from '../store/store-access.ts'
import type { CommitKind, DocumentChange } from './change.ts'
import type { ChangeBuffer } from './change-buffer.ts'
import { nextEventTime } from './event-clock.ts'

/** The documents of a batch, in its order; of a change from one version to another at the same place in both lists. */
export interface CommittedBatch {
  readonly kind: CommitKind
  readonly ordinalsBefore: readonly number[]
  readonly ordinalsAfter: readonly number[]
}

/** Read at once. */
const runDocuments = 16
/** Told in one turn of the event loop, about: a consumer who keeps up has taken them before the next. */
const turnCharacters = 256 * 1024

/** @param before undefined where nothing was deleted or replaced; released here */
export async function tellCommit(
  { kind, ordinalsBefore, ordinalsAfter }: CommittedBatch,
  store: CollectionStore,
  before: SharedSnapshot | undefined,
  streams: readonly ChangeBuffer[]
): Promise<void> {
  const wallMilliseconds = Date.now()
  const count = Math.max(ordinalsBefore.length, ordinalsAfter.length)
  const needsBefore = kind !== 'replace' || streams.some(({ settings }) => settings.beforeChange)
  let characters = 0
  let sliceStart = performance.now()
  try {
    for (let from = 0; from < count && streams.some(({ isOpen }) => isOpen); from += runDocuments) {
      const run = <T>(list: readonly T[]): readonly T[] => list.slice(from, from + runDocuments)
      const olds = before && needsBefore ? await recordsAt(store, run(ordinalsBefore), before.options) : []
      const news = await recordsAt(store, run(ordinalsAfter), store.readOptions())
      for (let i = 0; i < Math.max(olds.length, news.length); i++) {
        const [old, after] = [olds[i], news[i]]
        const id: unknown = kind === 'delete' ? decodeRecord(old ?? '')._id : undefined
        const change: DocumentChange = { kind, time: nextEventTime(wallMilliseconds), before: old, after, id }
        for (const stream of streams) stream.put(change)
        characters += (old?.length ?? 0) + (after?.length ?? 0)
        if (characters < turnCharacters) continue
        await nextTurn()
        characters = 0
      }
      const slice = breathe(sliceStart)
      sliceStart = slice instanceof Promise ? await slice : slice
    }
  } catch (error) {
    for (const stream of streams) stream.fail(fromStore(error))
  } finally {
    before?.release()
  }
}

function recordsAt(
  store: CollectionStore,
  ordinals: readonly number[],
  options: TextReadOptions
): (string | undefined)[] | Promise<(string | undefined)[]> {
  if (!store.canReadSync) return store.records(ordinals, options)
  return ordinals.map((ordinal) => store.record(ordinal, options))
}
