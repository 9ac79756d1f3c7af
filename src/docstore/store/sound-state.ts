/**
 * The state of a collection, checked against its documents when the collection is opened: they are the truth.
 *
 * A state that is lost, or older than the documents, as a repair of the store can leave it, would hide documents, and
 * have new ones written in their place.
 */
import { PetalError } from '../../model/errors.ts'
import { decodeRecord } from '../documents/record.ts'
import { utf8Bytes } from '../documents/stored-form.ts'
import type { CollectionState } from '../write/write-batch.ts'
import type { CollectionStore } from './collection-store.ts'

/** Returns the state, or if documents contradict it, one that is counted from them. @throws PetalError DataCorruption */
export async function soundState(store: CollectionStore, state: CollectionState): Promise<CollectionState> {
  return isSound(state) && !(await hidesDocuments(store, state)) ? state : counted(store, state)
}

function isSound({ nextOrdinal, documents, documentBytes, nextId }: CollectionState): boolean {
  return (
    [nextOrdinal, documents, documentBytes].every(isCount) && (nextId === undefined || Number.isSafeInteger(nextId))
  )
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

async function hidesDocuments(store: CollectionStore, { nextOrdinal, documents }: CollectionState): Promise<boolean> {
  // Computed ordinals have no order in time: then only a state without any document can be told.
  if (store.ids !== undefined && documents > 0) return false
  try {
    for await (const _ of store.ordinals(Number.MAX_SAFE_INTEGER, store.ids === undefined ? nextOrdinal : 0))
      return true
  } catch (error) {
    // Whoever reads there learns of it; all others need not.
    if (!(error instanceof PetalError) || error.codeName !== 'DataCorruption') throw error
  }
  return false
}

async function counted(store: CollectionStore, { nextOrdinal, nextId }: CollectionState): Promise<CollectionState> {
  let limit = isCount(nextOrdinal) ? nextOrdinal : 0
  for await (const run of store.ordinals(Number.MAX_SAFE_INTEGER)) limit = Math.max(limit, (run.at(-1) ?? 0) + 1)
  let greatestId = Number.isSafeInteger(nextId) ? (nextId as number) - 1 : undefined
  let documents = 0
  let documentBytes = 0
  const reader = store.documents({ from: 0, to: limit }, store.readOptions())
  try {
    for (let entries = await reader.next(); entries.length > 0; entries = await reader.next()) {
      for (const [, record] of entries) {
        documents++
        documentBytes += utf8Bytes(record)
        if (store.ids !== undefined) greatestId = Math.max(greatestId ?? 0, Number(decodeRecord(record)._id))
      }
    }
  } finally {
    await reader.close()
  }
  return {
    nextOrdinal: limit,
    ...(greatestId !== undefined && { nextId: greatestId + 1 }),
    documents,
    documentBytes
  }
}
