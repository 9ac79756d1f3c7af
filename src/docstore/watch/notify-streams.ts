/**
 * Reports the changes of a batch to streams, as read back from the store: writers prepare nothing for it, and streams
 * report exactly what was committed.
 *
 * Invariants:
 * 1. Runs while the batch is the last one applied: records after it are read from the current state, records before it
 *    from the snapshot taken before it.
 * 2. Never fails: an unreadable record fails the streams instead.
 */
import { nextTurn, TimeSlice } from '../../model/time-slice.ts'
import { decodeRecord } from '../documents/record.ts'
import { fromStore } from '../errors.ts'
import type { CollectionStore } from '../store/collection-store.ts'
import type { SharedSnapshot } from '../store/snapshots.ts'
import type { TextReadOptions } from '../store/store-access.ts'
import type { CommitKind, DocumentChange } from './change.ts'
import type { ChangeBuffer } from './change-buffer.ts'
import { nextEventTime } from './event-clock.ts'

/** The documents of a batch, in its order; a changed document is at the same position in both lists. */
export interface CommittedBatch {
  readonly kind: CommitKind
  readonly ordinalsBefore: readonly number[]
  readonly ordinalsAfter: readonly number[]
}

/** Records read at once. */
const runDocuments = 16
/** Approximate amount reported before yielding to the event loop, for consumers to take these events. */
const turnCharacters = 256 * 1024
/** Most turns in a row for a consumer that goes on taking events: one that is slow must not hold up writers for long. */
const maxTurns = 64

/** @param before undefined if nothing was deleted or replaced; released here */
export async function notifyStreams(
  { kind, ordinalsBefore, ordinalsAfter }: CommittedBatch,
  store: CollectionStore,
  before: SharedSnapshot | undefined,
  streams: readonly ChangeBuffer[]
): Promise<void> {
  const wallMilliseconds = Date.now()
  const count = Math.max(ordinalsBefore.length, ordinalsAfter.length)
  const needsBefore = kind !== 'replace' || streams.some(({ settings }) => settings.beforeChange)
  let characters = 0
  const timeSlice = new TimeSlice()
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
        await letConsumersTake(streams)
        characters = 0
      }
      if (timeSlice.isOver()) await timeSlice.renew()
    }
  } catch (error) {
    for (const stream of streams) stream.fail(fromStore(error))
  } finally {
    before?.release()
  }
}

/**
 * Yields to the event loop. While a stream's buffer is filling, and its consumer takes from it, that is repeated: if turns
 * are long, as on a busy machine, a consumer gets one event in every other turn.
 */
async function letConsumersTake(streams: readonly ChangeBuffer[]): Promise<void> {
  await nextTurn()
  for (let turns = 0; turns < maxTurns; turns += 2) {
    const filling = streams.filter(({ isFilling }) => isFilling).map((stream) => ({ stream, bytes: stream.bytes }))
    if (filling.length === 0) return
    await nextTurn()
    await nextTurn()
    if (filling.every(({ stream, bytes }) => stream.bytes === bytes)) return
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
