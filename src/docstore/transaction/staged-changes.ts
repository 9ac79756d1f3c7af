/**
 * What a transaction has changed in one collection so far, and calls that see it.
 *
 * Invariants:
 * 1. The collection is held: nothing else writes to it, so what is committed stays what the transaction has read.
 * 2. A call that fails has changed nothing.
 * 3. Staged documents are read back from their records: they share nothing with the caller's.
 */
import { cloneDocument } from '../../model/clone.ts'
import { encodeKey, tryEncodeKey } from '../../model/key.ts'
import { toText } from '../../model/key-text.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import { decodeRecord, isSameDocument } from '../documents/record.ts'
import { RecordEncoder } from '../documents/record-encoder.ts'
import { storedForm } from '../documents/stored-form.ts'
import { duplicateKey } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { Match } from '../read/confirmer.ts'
import type { Control } from '../read/control.ts'
import { countFound } from '../read/count.ts'
import type { CompiledFind } from '../read/find.ts'
import type { CommitKind } from '../watch/change.ts'
import { type Entry, prepareEntry } from '../write/insert-entry.ts'
import type { Removed, Updated } from '../write/mutate.ts'
import type { DeleteRequest, UpdateRequest } from '../write/mutation-request.ts'
import { committedMatches } from './committed-matches.ts'
import { assertDocuments, maxChangedDocuments, type Room } from './room.ts'
import { UnchangedDocuments } from './unchanged.ts'

/** What becomes of one document. */
export interface StagedChange {
  readonly kind: CommitKind
  readonly key: Uint8Array
  /** The committed document; undefined if there is none. */
  readonly original: Match | undefined
  /** The document as it will be; undefined if it is deleted. */
  readonly after: StoredDocument | undefined
}

interface StoredDocument {
  readonly document: Document
  readonly record: string
}

/** A document that a call finds: the committed one, or what the transaction has made of it. */
interface Found {
  readonly document: Document
  /** Has its record, if it is about to be changed. */
  readonly stored: StoredDocument
  readonly original: Match | undefined
  /** How it was changed before. */
  readonly kind: CommitKind | undefined
}

type Order = (a: Found, b: Found) => number

export class StagedChanges {
  readonly collection: OpenCollection
  readonly #room: Room
  readonly #encoder: RecordEncoder
  /** By encoded `_id`, in the order of the last changes. */
  readonly #changes = new Map<string, StagedChange>()
  /** What is committed of documents that were not changed. */
  readonly #unchanged: UnchangedDocuments

  /** REQUIRES: the collection is held. */
  constructor(collection: OpenCollection, room: Room) {
    this.collection = collection
    this.#unchanged = new UnchangedDocuments(collection)
    this.#room = room
    this.#encoder = new RecordEncoder(collection.index)
  }

  /** What is to be committed: of each document the last state, if it differs from the committed one. */
  async changes(): Promise<readonly StagedChange[]> {
    const changes: StagedChange[] = []
    const timeSlice = new TimeSlice()
    for (const change of this.#changes.values()) {
      // Telling a document that was restored from one that was changed may take reading both.
      if (timeSlice.isOver()) await timeSlice.renew()
      if (hasChanged(change)) changes.push(change)
    }
    return changes
  }

  /** Inserts all the documents, or none. @throws PetalError DuplicateKey, BadValue, DocumentTooLarge */
  async insert(documents: readonly Document[]): Promise<readonly unknown[]> {
    const changes = new Map<string, StagedChange>()
    const ids: unknown[] = []
    const timeSlice = new TimeSlice()
    for (const document of documents) {
      if (timeSlice.isOver()) await timeSlice.renew()
      const entry = this.#entryOf(document)
      const key = toText(entry.key)
      if (changes.has(key)) throw duplicateKey(this.collection.name, entry.id)
      changes.set(key, await this.#insertion(entry))
      ids.push(entry.id)
    }
    this.#stage([...changes.values()])
    return ids
  }

  /** Updates up to `find.limit` matches, or upserts a document. */
  async update(request: UpdateRequest): Promise<Updated> {
    const { find, control, change, returns, upsertSeed } = request
    request.loops?.obey(control)
    if (request.ready !== undefined) await request.ready()
    const now = new Date()
    const found = await this.#find(find, control, 'replace')
    const changes: StagedChange[] = []
    let returned: Document | undefined
    const timeSlice = new TimeSlice()
    for (const [i, before] of found.entries()) {
      if (timeSlice.isOver()) await timeSlice.renew()
      control.check()
      const changed = storedForm(change(before.document, { isInsert: false, now }))
      if (i === 0) returned = returns?.(before.document, changed)
      const after = this.#stored(changed)
      if (!isSameDocument(after.record, before.stored.record)) changes.push(changeOf(before, request.kind, after))
    }
    const upserted =
      found.length === 0 && upsertSeed !== undefined
        ? this.#entryOf(change(upsertSeed(), { isInsert: true, now }))
        : undefined
    if (upserted !== undefined) {
      returned = returns?.(undefined, upserted.document as Document)
      changes.push(await this.#insertion(upserted))
    }
    this.#stage(changes)
    return {
      matched: found.length,
      modified: upserted === undefined ? changes.length : 0,
      upsertedId: upserted === undefined ? null : upserted.id,
      hasUpserted: upserted !== undefined,
      returned
    }
  }

  /** Deletes up to `find.limit` matches. */
  async remove({ find, control, returns }: DeleteRequest): Promise<Removed> {
    const found = await this.#find(find, control, 'replace')
    const [first] = found
    const returned = first && returns?.(first.document, undefined)
    this.#stage(found.map((before) => changeOf(before, 'delete', undefined)))
    return { deleted: found.length, returned }
  }

  /** Returns what a find returns. */
  async find(find: CompiledFind, control: Control): Promise<Document[]> {
    const documents: Document[] = []
    const timeSlice = new TimeSlice()
    for (const { document, kind } of await this.#find(find, control, 'read')) {
      if (timeSlice.isOver()) await timeSlice.renew()
      control.check()
      const own = kind === undefined ? document : cloneDocument(document)
      documents.push(find.project === undefined ? own : find.project(own))
    }
    return documents
  }

  /** Counts what a find returns; of what is committed, the index counts what it is certain of. */
  async count(find: CompiledFind, control: Control): Promise<number> {
    const end = find.skip + find.limit
    const committed = await countFound(this.#unchanged, { ...find, skip: 0, limit: end }, control)
    const changed = committed < end ? (await this.#changedMatches(find, control)).length : 0
    return Math.max(0, Math.min(committed + changed, end) - find.skip)
  }

  /** Returns the document with this encoded `_id`; undefined if there is none. */
  async documentOf(key: Uint8Array): Promise<Document | undefined> {
    const change = this.#changes.get(toText(key))
    if (change !== undefined) return change.after && cloneDocument(change.after.document)
    return (await this.collection.documentsOf([key]))[0]
  }

  /** Finds documents in the requested order, with skip and limit applied. */
  async #find(find: CompiledFind, control: Control, use: 'read' | 'replace'): Promise<readonly Found[]> {
    if (find.prepare !== undefined) await find.prepare()
    const end = find.skip + find.limit
    // Of too many to be changed, one is enough to know.
    const most = use === 'read' ? end : Math.min(end, maxChangedDocuments + 1)
    const committed = await committedMatches(this.#unchanged, { ...find, skip: 0, limit: most }, control, use)
    const isEnough = committed.length >= end && this.#comeLast(find)
    const changed = isEnough ? [] : await this.#changedMatches(find, control)
    const found: Found[] = []
    const timeSlice = new TimeSlice()
    for (const each of merged(committed, changed, this.#order(find))) {
      if (timeSlice.isOver()) await timeSlice.renew()
      if (found.push(each) === end) break
    }
    if (use === 'replace') assertDocuments(found.length)
    return found.slice(find.skip)
  }

  /** Whether changed documents come after all others: a filter may fail for one that is not asked for. */
  #comeLast({ sort, plan }: CompiledFind): boolean {
    return sort.keys.length === 0 && !plan.reverse && this.collection.store.ids === undefined
  }

  /** Changed documents are the newest, except where their place depends on the `_id`. */
  #order({ sort, plan }: CompiledFind): Order {
    const { ids } = this.collection.store
    const direction = plan.reverse ? -1 : 1
    const placeOf =
      ids === undefined
        ? ({ kind }: Found) => (kind === undefined ? 0 : 1)
        : ({ document }: Found) => ids.ordinalOfKey(encodeKey(document._id)) ?? 0
    const byPlace: Order = (a, b) => direction * (placeOf(a) - placeOf(b))
    return sort.keys.length === 0 ? byPlace : (a, b) => sort.compare(a.document, b.document) || byPlace(a, b)
  }

  async #changedMatches({ filter, plan }: CompiledFind, control: Control): Promise<Found[]> {
    const found: Found[] = []
    const timeSlice = new TimeSlice()
    for (const { kind, original, after } of this.#candidates(filter.ids)) {
      if (timeSlice.isOver()) await timeSlice.renew()
      control.check()
      if (after !== undefined && filter.matches(after.document))
        found.push({ document: after.document, stored: after, original, kind })
    }
    return plan.reverse ? found.reverse() : found
  }

  /** @param ids if every match has one of these */
  #candidates(ids: readonly unknown[] | undefined): Iterable<StagedChange> {
    if (ids === undefined) return this.#changes.values()
    const keys = new Set(ids.flatMap((id) => tryEncodeKey(id) ?? []).map(toText))
    const named = [...keys].filter((key) => this.#changes.has(key))
    const inOrder = named.length < 2 ? named : [...this.#changes.keys()].filter((key) => keys.has(key))
    return inOrder.map((key) => this.#changes.get(key)!)
  }

  #entryOf(document: Document): Entry {
    const { store, committer } = this.collection
    const entry = prepareEntry(document, store.ids, committer)
    if (entry instanceof Error) throw entry
    return entry
  }

  /** @throws PetalError DuplicateKey for an `_id` that exists, BadValue, DocumentTooLarge */
  async #insertion({ document, key, id }: Entry): Promise<StagedChange> {
    const before = this.#changes.get(toText(key))
    const exists = before === undefined ? await this.collection.writer.hasId(key) : before.after !== undefined
    if (exists) throw duplicateKey(this.collection.name, id)
    const { original } = before ?? {}
    return { kind: original ? 'replace' : 'insert', key, original, after: this.#stored(document as Document) }
  }

  /** @throws PetalError BadValue, DocumentTooLarge */
  #stored(document: Document): StoredDocument {
    const { record } = this.#encoder.flat(document)
    return { record, document: decodeRecord(record) }
  }

  /** @throws PetalError TransactionTooLarge, with nothing staged */
  #stage(changes: readonly StagedChange[]): void {
    let documents = 0
    let characters = 0
    for (const change of changes) {
      const before = this.#changes.get(toText(change.key))
      if (before === undefined) documents++
      characters += charactersOf(change) - (before === undefined ? 0 : charactersOf(before))
    }
    this.#room.take(documents, characters)
    this.#unchanged.leaveOut(changes.flatMap(({ original }) => original?.ordinal ?? []))
    for (const change of changes) {
      const text = toText(change.key)
      this.#changes.delete(text)
      this.#changes.set(text, change)
    }
  }
}

function changeOf(
  { document, original, kind }: Found,
  next: CommitKind,
  after: StoredDocument | undefined
): StagedChange {
  const key = encodeKey(document._id)
  // What was inserted stays an insert, and what was replaced a replacement, whatever is changed in it later.
  const isFirst = kind === undefined || after === undefined
  return { kind: isFirst ? next : kind, key, original, after }
}

function hasChanged({ original, after }: StagedChange): boolean {
  if (original === undefined || after === undefined) return original !== after
  return !isSameDocument(after.record, original.record)
}

function charactersOf({ original, after }: StagedChange): number {
  return Math.max(original?.record.length ?? 0, after?.record.length ?? 0)
}

function* merged(committed: readonly Match[], changed: readonly Found[], order: Order): Iterable<Found> {
  const inOrder = changed.toSorted(order)
  let next = 0
  for (const original of committed) {
    const one: Found = { document: original.document, stored: original, original, kind: undefined }
    while (next < inOrder.length && order(inOrder[next]!, one) < 0) yield inOrder[next++]!
    yield one
  }
  while (next < inOrder.length) yield inOrder[next++]!
}
