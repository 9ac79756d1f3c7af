/** Single inserts that share a commit. */
import type { Document } from '../../model/types.ts'
import { isDuplicate, type WriteError } from '../errors.ts'
import type { WaitingCall } from './call-groups.ts'

/** Result of inserting a run of documents; `done` settles when all of it is applied. */
export interface Inserted {
  /** `_id` of each document; undefined for rejected ones. */
  readonly ids: readonly unknown[]
  readonly errors: readonly WriteError[]
  readonly count: number
  /** Characters of the records, for sizing the next run. */
  readonly characters: number
  readonly done: Promise<void>
}

/**
 * A batch was handed to the store: it holds the documents before `end` that are neither refused nor in an earlier batch.
 */
export type BatchStarted = (
  end: number,
  results: { readonly ids: readonly unknown[]; readonly errors: readonly WriteError[] },
  done: Promise<void>
) => void

/**
 * Inserts documents; each call resolves with its `_id` when its batch is committed. A duplicate is refused at the same
 * time: it may be one of a document in that batch, which its caller must then find.
 * @param insertAll inserts a run of documents, unordered
 */
export async function insertGroup(
  calls: readonly WaitingCall<Document, unknown>[],
  insertAll: (documents: readonly Document[], onBatch: BatchStarted) => Promise<Inserted>
): Promise<void> {
  let started = 0
  let refused = 0
  const onBatch: BatchStarted = (end, { ids, errors }, done) => {
    const from = started
    const refusals = new Map(errors.slice(refused).map(({ index, error }) => [index, error]))
    started = end
    refused = errors.length
    for (const [index, error] of refusals) if (!isDuplicate(error)) calls[index]?.reject(error)
    // Not awaited, so that the next batch can be prepared meanwhile. Settling a promise again has no effect.
    done.then(
      () => {
        for (const [index, error] of refusals) calls[index]?.reject(error)
        for (let i = from; i < end; i++) calls[i]?.resolve(ids[i])
      },
      (error: unknown) => {
        for (const { reject } of calls.slice(from, end)) reject(error)
      }
    )
  }
  try {
    await insertAll(
      calls.map(({ call }) => call),
      onBatch
    )
  } catch (error) {
    // Batches before this one settle their own calls.
    for (const { reject } of calls.slice(started)) reject(error)
  }
}
