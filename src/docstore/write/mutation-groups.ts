/**
 * Updates, replacements and deletions of single documents that share a commit.
 *
 * Invariant: the outcome is that of the calls one after the other. Each names one `_id`, no two the same one, so none
 * sees what another of its batch has changed.
 */
import { encodeKey } from '../../model/key.ts'
import { toText } from '../../model/key-text.ts'
import { isDuplicate } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { CompiledFind } from '../read/find.ts'
import type { CommitKind } from '../watch/change.ts'
import { Batches } from './batches.ts'
import type { Admits, WaitingCall } from './call-groups.ts'

/** A call that changes documents. */
export interface MutationCall<Result = unknown> {
  readonly kind: CommitKind
  /** The `_id` of the only document that can match; undefined if there may be others. */
  readonly id: unknown
  /** Whether its turn has come. */
  readonly hasBegun: boolean
  /** Finds the documents and adds their changes to the batches. */
  change(batches: Batches): Promise<void>
  /** Inserts a document, once the changes are committed; undefined if none is to be inserted. */
  readonly upsert: (() => Promise<void>) | undefined
  readonly result: Result
}

type Waiting = WaitingCall<MutationCall, unknown>

/** A call that waits for the commit. */
interface Pending {
  readonly waiting: Waiting
  /** Why the call is refused if the commit succeeds: a duplicate of what an earlier call of the batch may store. */
  readonly duplicate?: unknown
}

/** Time after which the calls done so far are committed: they should not wait for slow ones after them. */
const maxMilliseconds = 20

export function onlyId({ filter: { ids } }: CompiledFind): unknown {
  return ids?.length === 1 ? ids[0] : undefined
}

/** Admits calls of one kind, because a commit has one, that change different documents. */
export function differentDocuments(): Admits<MutationCall> {
  let first: MutationCall | undefined
  let keys: Set<string> | undefined
  return (call) => {
    first ??= call
    if (call === first) return true
    if (call.kind !== first.kind) return false
    keys ??= new Set([keyOf(first)])
    const { size } = keys
    return keys.add(keyOf(call)).size > size
  }
}

function keyOf({ id }: MutationCall): string {
  return toText(encodeKey(id))
}

/** Runs calls in order. One that fails changes nothing, and fails alone. REQUIRES: inside an exclusive task. */
export async function commitTogether(collection: OpenCollection, calls: readonly Waiting[]): Promise<void> {
  const batches = new Batches(collection, calls[0]!.call.kind)
  let pending: Pending[] = []
  let begun = performance.now()
  const commit = async (): Promise<void> => {
    const committed = pending
    pending = []
    await settle(committed, () => batches.flush())
    begun = performance.now()
  }
  for (const waiting of calls) {
    const { call, reject } = waiting
    try {
      await call.change(batches)
    } catch (error) {
      // Whoever hears of a duplicate must find the other document.
      if (isDuplicate(error)) pending.push({ waiting, duplicate: error })
      else reject(error)
      continue
    }
    const { upsert } = call
    if (upsert === undefined) {
      pending.push({ waiting })
      if (!batches.isFull && performance.now() - begun <= maxMilliseconds) continue
    }
    await commit()
    if (upsert !== undefined) await settle([{ waiting }], upsert)
    await collection.writer.maintainIfDue()
  }
  await commit()
}

async function settle(calls: readonly Pending[], task: () => Promise<void>): Promise<void> {
  try {
    await task()
  } catch (error) {
    for (const { waiting } of calls) waiting.reject(error)
    return
  }
  for (const { waiting, duplicate } of calls) {
    if (duplicate === undefined) waiting.resolve(waiting.call.result)
    else waiting.reject(duplicate)
  }
}
