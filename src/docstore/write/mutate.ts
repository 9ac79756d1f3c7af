/**
 * Updates and deletions: reads from a view captured at the start, and writes in batches of bounded size.
 *
 * Invariants:
 * 1. No other write of the collection is in flight, so what was read is what is replaced.
 * 2. A document is changed at most once: the operation's own writes are above its view's limit.
 * 3. When a document cannot be changed, the ones before it stay changed, and it and the ones after it do not, as in
 *    MongoDB.
 */
import { encodeKey } from '../../model/key.ts'
import type { Document } from '../../model/types.ts'
import { storedForm } from '../documents/stored-form.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { Match } from '../read/confirmer.ts'
import type { CommitKind } from '../watch/change.ts'
import { Batches, forEachMatch } from './batches.ts'
import { type MutationCall, onlyId } from './mutation-groups.ts'
import type { DeleteRequest, UpdateRequest } from './mutation-request.ts'
import { untilOver } from './until-aborted.ts'

export interface Updated {
  readonly matched: number
  readonly modified: number
  readonly upsertedId: unknown
  readonly hasUpserted: boolean
  /** The requested version of the first matched document, or of the upserted one. */
  readonly returned: Document | undefined
}

export interface Removed {
  readonly deleted: number
  readonly returned: Document | undefined
}

/** Updates up to `find.limit` matches, or upserts a document. */
export function update(collection: OpenCollection, request: UpdateRequest): Promise<Updated> {
  return run(collection, new UpdateCall(collection, request), request)
}

/** Deletes up to `find.limit` matches. */
export function remove(collection: OpenCollection, request: DeleteRequest): Promise<Removed> {
  return run(collection, new RemoveCall(collection, request), request)
}

function run<Result>(
  collection: OpenCollection,
  call: MutationCall<Result>,
  { control }: DeleteRequest
): Promise<Result> {
  return untilOver(enqueue(collection, call), control, () => !call.hasBegun)
}

function enqueue<Result>(collection: OpenCollection, call: MutationCall<Result>): Promise<Result> {
  if (call.id !== undefined) return collection.mutations.call(call) as Promise<Result>
  return collection.writer.exclusive(async () => {
    const batches = new Batches(collection, call.kind)
    try {
      await call.change(batches)
    } finally {
      await batches.flush()
    }
    await call.upsert?.()
    return call.result
  })
}

class UpdateCall implements MutationCall<Updated> {
  readonly kind: CommitKind
  readonly id: unknown
  hasBegun = false
  readonly #collection: OpenCollection
  readonly #request: UpdateRequest
  #now = new Date()
  #matched = 0
  #modified = 0
  #returned: Document | undefined
  #upserted: { readonly id: unknown } | undefined

  constructor(collection: OpenCollection, request: UpdateRequest) {
    this.#collection = collection
    this.#request = request
    this.kind = request.kind
    this.id = onlyId(request.find)
  }

  async change(batches: Batches): Promise<void> {
    this.hasBegun = true
    const request = this.#request
    request.loops?.obey(request.control)
    if (request.ready !== undefined) await request.ready()
    this.#now = new Date()
    await forEachMatch(this.#collection, batches, request, (match) => this.#change(batches, match))
  }

  get upsert(): (() => Promise<void>) | undefined {
    const { upsertSeed } = this.#request
    return this.#matched > 0 || upsertSeed === undefined ? undefined : () => this.#insert(upsertSeed)
  }

  async #insert(upsertSeed: () => Document): Promise<void> {
    const { change, returns } = this.#request
    const { writer } = this.#collection
    const inserted = writer.withId(change(upsertSeed(), { isInsert: true, now: this.#now }))
    this.#returned = returns?.(undefined, inserted)
    const [id] = await writer.insertExclusive([inserted])
    this.#upserted = { id }
  }

  get result(): Updated {
    return {
      matched: this.#matched,
      modified: this.#modified,
      upsertedId: this.#upserted === undefined ? null : this.#upserted.id,
      hasUpserted: this.#upserted !== undefined,
      returned: this.#returned
    }
  }

  #change(batches: Batches, match: Match): void | Promise<void> {
    const { change, returns } = this.#request
    const changed = storedForm(change(match.document, { isInsert: false, now: this.#now }))
    // Before anything is written, because a projection may fail.
    if (this.#matched === 0) this.#returned = returns?.(match.document, changed)
    const { commit } = batches
    const write = (): void => {
      const { committer } = this.#collection
      if (committer.replace(commit, match, changed, encodeKey(match.document._id))) this.#modified++
      this.#matched++
    }
    if (!commit.entries?.needsLoad) return write()
    return commit.entries.load([match.document, changed]).then(write)
  }
}

class RemoveCall implements MutationCall<Removed> {
  readonly kind = 'delete'
  readonly id: unknown
  readonly upsert = undefined
  hasBegun = false
  readonly #collection: OpenCollection
  readonly #request: DeleteRequest
  #deleted = 0
  #returned: Document | undefined

  constructor(collection: OpenCollection, request: DeleteRequest) {
    this.#collection = collection
    this.#request = request
    this.id = onlyId(request.find)
  }

  change(batches: Batches): Promise<void> {
    this.hasBegun = true
    return forEachMatch(this.#collection, batches, this.#request, (match) => this.#remove(batches, match))
  }

  get result(): Removed {
    return { deleted: this.#deleted, returned: this.#returned }
  }

  #remove(batches: Batches, match: Match): void | Promise<void> {
    if (this.#deleted === 0) this.#returned = this.#request.returns?.(match.document, undefined)
    const { commit } = batches
    const write = (): void => {
      this.#collection.committer.remove(commit, match, encodeKey(match.document._id))
      this.#deleted++
    }
    if (!commit.entries?.needsLoad) return write()
    return commit.entries.load([match.document]).then(write)
  }
}
