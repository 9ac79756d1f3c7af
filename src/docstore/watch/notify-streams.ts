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

/** What a commit does to one document. */
export interface OrdinalChange {
  readonly kind: CommitKind
  /** Ordinal of the document before it; undefined for an insert. */
  readonly before: number | undefined
  /** Ordinal after it; undefined for a deletion. */
  readonly after: number | undefined
}

/** Records read at once. */
const runDocuments = 16
/** Approximate amount reported before yielding to the event loop, for consumers to take these events. */
const turnCharacters = 256 * 1024
/** Most turns in a row for a consumer that goes on taking events: one that is slow must not hold up writers for long. */
const maxTurns = 64

/**
 * @param changes in the order of the events
 * @param before undefined if nothing was deleted or replaced; released here
 */
export async function notifyStreams(
  changes: readonly OrdinalChange[],
  store: CollectionStore,
  before: SharedSnapshot | undefined,
  streams: readonly ChangeBuffer[]
): Promise<void> {
  const wallMilliseconds = Date.now()
  const wantsReplaced = streams.some(({ settings }) => settings.beforeChange)
  const oldOrdinal = (change: OrdinalChange): number | undefined =>
    change.kind === 'replace' && !wantsReplaced ? undefined : change.before
  let characters = 0
  const timeSlice = new TimeSlice()
  try {
    for (let from = 0; from < changes.length && streams.some(({ isOpen }) => isOpen); from += runDocuments) {
      const run = changes.slice(from, from + runDocuments)
      const olds = before === undefined ? [] : await recordsAt(store, run.map(oldOrdinal), before.options)
      const news = await recordsAt(
        store,
        run.map(({ after }) => after),
        store.readOptions()
      )
      for (const [i, { kind }] of run.entries()) {
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

/** Returns the record at each ordinal; undefined where there is none. */
async function recordsAt(
  store: CollectionStore,
  ordinals: readonly (number | undefined)[],
  options: TextReadOptions
): Promise<(string | undefined)[]> {
  if (store.canReadSync)
    return ordinals.map((ordinal) => (ordinal === undefined ? undefined : store.record(ordinal, options)))
  const present = ordinals.filter((ordinal) => ordinal !== undefined)
  const records = (await store.records(present, options)).values()
  return ordinals.map((ordinal) => (ordinal === undefined ? undefined : records.next().value))
}
