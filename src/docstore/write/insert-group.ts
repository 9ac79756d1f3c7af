/** Single inserts that share a commit. */
import type { Document } from '../../model/types.ts'
import type { WriteError } from '../errors.ts'
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
 * Inserts documents; each call resolves with its `_id` when it is committed.
 * @param insertAll inserts a run of documents, unordered
 */
export async function insertGroup(
  calls: readonly WaitingCall<Document, unknown>[],
  insertAll: (documents: readonly Document[]) => Promise<Inserted>
): Promise<void> {
  const { ids, errors, done } = await insertAll(calls.map(({ call }) => call))
  for (const { index, error } of errors) calls[index]?.reject(error)
  // Not awaited, so that the next task can prepare its batch meanwhile. Settling a promise again has no effect.
  done.then(
    () => {
      for (const [i, { resolve }] of calls.entries()) resolve(ids[i])
    },
    (error: unknown) => {
      for (const { reject } of calls) reject(error)
    }
  )
}
