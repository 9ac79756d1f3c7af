/**
 * Finds and deletes the documents that have expired by a TTL index.
 *
 * Invariants:
 * 1. A document is deleted only if, with no other write in flight, it is unchanged since the index was read, has a date
 *    on the path that is old enough, and the index still exists.
 * 2. Memory is bounded: the ordinals of one pass and the records of one run.
 */
import { encodeKey } from '../../model/key.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import { decodeRecord } from '../documents/record.ts'
import type { OpenCollection } from '../open-collection.ts'
import { type CompiledFind, compileFind } from '../read/find.ts'
import { Meter } from '../read/meter.ts'
import { advance, end } from '../read/steps.ts'
import type { DeclaredIndex } from './declared-index.ts'
import { readOrdinals } from './entry-reader.ts'
import { declaredRead } from './plan-read.ts'

/** Ordinals gathered from one view. The next pass has to skip the entries of those deleted before. */
const passOrdinals = 50_000
/** Documents deleted while other writes wait. */
const batchDocuments = 256
/** Records read at once; documents may be large. */
const runDocuments = 16

export interface Sweep {
  readonly collection: OpenCollection
  readonly index: DeclaredIndex
  /** Time of the sweep, in milliseconds since 1970. */
  readonly now: number
  /** Checked between batches. */
  readonly isOver: () => boolean
  /** Called after every batch. */
  readonly onDeleted: (count: number) => void
}

/** Deletes the documents that have expired by the index, in batches between which other writes run. */
export async function sweepExpired(sweep: Sweep): Promise<void> {
  const find = expiredFind(sweep.index, sweep.now)
  for (;;) {
    const ordinals = await expiredOrdinals(sweep, find)
    let deleted = 0
    for (let from = 0; from < ordinals.length; from += batchDocuments) {
      if (sweep.isOver()) return
      const batch = ordinals.slice(from, from + batchDocuments)
      const count = await sweep.collection.writer.exclusive(() => deleteBatch(sweep, find, batch))
      sweep.onDeleted(count)
      deleted += count
    }
    // Other writers may have changed all of them meanwhile: the rest can wait for the next sweep.
    if (ordinals.length < passOrdinals || deleted === 0) return
  }
}

/** Returns a find for documents whose date on the index's path (the earliest of several) is old enough. */
function expiredFind({ definition }: DeclaredIndex, now: number): CompiledFind {
  const { name, fields, expireAfterSeconds = 0 } = definition
  const latest = new Date(now - expireAfterSeconds * 1000)
  return compileFind({ [fields[0]!.path]: { $lte: latest } }, { hint: name })
}

async function expiredOrdinals({ collection, index, isOver }: Sweep, find: CompiledFind): Promise<readonly number[]> {
  if (isOver() || !isDeclared(collection, index)) return []
  const read = declaredRead(collection, find)
  const access = read?.choice.lookup
  if (read === undefined || access === undefined) return []
  const view = collection.capture()
  const runs = readOrdinals(read.store, view, access, new Meter())
  const ordinals: number[] = []
  try {
    const timeSlice = new TimeSlice()
    for (;;) {
      const run = await advance(runs)
      if (run === undefined) break
      for (const ordinal of run) ordinals.push(ordinal)
      if (ordinals.length >= passOrdinals || isOver()) break
      if (timeSlice.isOver()) await timeSlice.renew()
    }
  } finally {
    end(runs)
    view.close()
  }
  return ordinals
}

/** REQUIRES: inside an exclusive task. @returns the number of deleted documents */
async function deleteBatch(
  { collection, index }: Sweep,
  { filter }: CompiledFind,
  ordinals: readonly number[]
): Promise<number> {
  if (!isDeclared(collection, index)) return 0
  const { store, committer } = collection
  const commit = committer.begin('delete')
  const timeSlice = new TimeSlice()
  for (let from = 0; from < ordinals.length; from += runDocuments) {
    const run = ordinals.slice(from, from + runDocuments)
    const records = await store.records(run, store.readOptions())
    for (const [i, record] of records.entries()) {
      const document = record === undefined ? undefined : decodeRecord(record)
      if (record === undefined || document === undefined || !filter.matches(document)) continue
      if (commit.entries?.needsLoad) await commit.entries.load([document])
      const match = { ordinal: run[i]!, record, document, characters: record.length }
      committer.remove(commit, match, encodeKey(document._id))
    }
    if (timeSlice.isOver()) await timeSlice.renew()
  }
  const count = commit.removed.length
  await committer.run(commit)
  return count
}

function isDeclared({ declared }: OpenCollection, index: DeclaredIndex): boolean {
  return declared.ready.includes(index)
}
