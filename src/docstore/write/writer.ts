/**
 * The write path of a collection: all decisions about writes are made here, in call order.
 *
 * Inserts are pipelined: while one batch is being applied, the next is prepared, its `_id`s checked against the store
 * and against ids still in flight. Operations that read before they write (update, delete) have no other write in
 * flight. Single inserts waiting at the same time are committed together, and so are changes of single documents.
 *
 * Invariants:
 * 1. No two documents have the same `_id` at any instant.
 * 2. Nothing is decided between a read and the batch that relies on it.
 * 3. The index is maintained when nothing else uses it.
 */
import { PetalError } from '../../model/errors.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import type { DocumentIndex } from '../../sharded-bloom/document-index.ts'
import type { BuiltUnit } from '../bulk/load-unit.ts'
import { JsonRecord } from '../documents/json-record.ts'
import { ensureId } from '../documents/stored-form.ts'
import { collectionGone, commitFailed, duplicateKey, type WriteError, writeError } from '../errors.ts'
import type { CollectionStore } from '../store/collection-store.ts'
import { type Admits, CallGroups, type WaitingCall } from './call-groups.ts'
import { type Commit, isFull } from './commit.ts'
import type { Committer } from './committer.ts'
import { assertSameId, type Entry, loadEntries, prepareEntry, withId } from './insert-entry.ts'
import { type BatchStarted, type Inserted, insertGroup } from './insert-group.ts'
import { KnownIds } from './known-ids.ts'
import type { PendingIds } from './pending-ids.ts'
import { WriteQueue } from './write-queue.ts'

/**
 * Entries prepared between two checks of the clock; preparation only looks at the `_id`, whatever the document's size.
 */
const entriesPerCheck = 16
/**
 * Characters of records between two checks of the clock, some 0.1 ms, and the overhead counted per record: much of a
 * document may not be in its record.
 */
const charactersPerCheck = 4096
const overheadCharacters = 512
/**
 * The clock is checked for each of the first documents of a collection: with cold code they take a hundred times as
 * long.
 */
const coldDocuments = 512

export class Writer {
  readonly #name: string
  readonly #store: CollectionStore
  readonly #index: DocumentIndex
  readonly #committer: Committer
  readonly #queue = new WriteQueue()
  readonly #ids: KnownIds
  readonly #inserts = new CallGroups<Document, unknown>(
    (task) => this.#enqueue(task),
    (calls) => insertGroup(calls, (documents, onBatch) => this.#insert(documents, false, undefined, onBatch))
  )
  /** All groups that calls may join. */
  readonly #groups: { end(): void }[] = [this.#inserts]
  /** How many cold documents are left. */
  #cold = coldDocuments
  #isClosed = false

  /**
   * @param readGreatestId greatest `_id` of the stored documents; read by the first insert, since many processes only
   *   read
   */
  constructor(
    name: string,
    store: CollectionStore,
    index: DocumentIndex,
    committer: Committer,
    readGreatestId: () => Promise<Uint8Array | undefined>
  ) {
    this.#name = name
    this.#store = store
    this.#index = index
    this.#committer = committer
    this.#ids = new KnownIds(store, readGreatestId)
    index.onMaintenanceDue = async () => this.maintainWhenIdle()
  }

  /** Inserts one document; resolves with its `_id` when it is committed. */
  insertOne(document: Document): Promise<unknown> {
    this.ensureId(document)
    return this.#inserts.call(document)
  }

  /** Generates a missing `_id`. Auto-incremented ones are assigned later, on insertion. */
  ensureId(document: Document): void {
    if (this.#store.ids === undefined) ensureId(document)
  }

  /**
   * Inserts a run of documents; resolves when the last of its batches is in flight.
   * @param ordered stop at the first rejected document
   * @param failuresBefore value of `failures` when the previous run was handed over: if that run fails, so does this
   *   one
   */
  insert(documents: readonly (Document | JsonRecord)[], ordered: boolean, failuresBefore?: number): Promise<Inserted> {
    return this.#enqueue(() => this.#insert(documents, ordered, failuresBefore))
  }

  /** Number of batches that failed. */
  get failures(): number {
    return this.#committer.failures
  }

  /** Runs a task that reads and writes, with no other write in flight. */
  exclusive<T>(task: () => Promise<T>): Promise<T> {
    return this.#enqueue(() => this.#runExclusive(task))
  }

  /**
   * Groups calls into tasks like those of exclusive().
   * @param run settles the calls of a group
   * @param newRule see CallGroups
   */
  exclusiveGroups<Call, Result>(
    run: (calls: readonly WaitingCall<Call, Result>[]) => Promise<void>,
    newRule: () => Admits<Call>
  ): CallGroups<Call, Result> {
    const groups = new CallGroups<Call, Result>((task) => this.exclusive(task), run, newRule)
    this.#groups.push(groups)
    return groups
  }

  /**
   * Returns the document as insertExclusive() would store it. REQUIRES: inside an exclusive task. @throws PetalError
   * BadValue
   */
  withId(document: Document): Document {
    return withId(document, this.#store.ids, this.#committer)
  }

  /**
   * Inserts documents up to the first rejected one, and resolves with their `_id`s when they are committed. REQUIRES:
   * inside an exclusive task.
   * @throws PetalError why a document was rejected; those before it are committed
   */
  async insertExclusive(documents: readonly Document[]): Promise<readonly unknown[]> {
    const { ids, errors, done } = await this.#insert(documents, true)
    await done
    if (errors[0] !== undefined) throw errors[0].error
    return ids
  }

  /** Whether a document has the `_id`. REQUIRES: inside an exclusive task. */
  async hasId(key: Uint8Array): Promise<boolean> {
    await this.#ids.prepare()
    return (await this.#ids.existing([{ key }])).size > 0
  }

  /** Called before documents are committed that insertExclusive() does not insert. REQUIRES: hasId() was asked. */
  noteId(key: Uint8Array): void {
    this.#ids.noteGreatest(key)
  }

  /**
   * Reserves ordinals for documents that a bulk load will build.
   * @returns undefined if they have to be inserted the ordinary way
   */
  reserve(count: number): Promise<number | undefined> {
    const reserve = async () => (this.#index.bulk?.mayReserve ? this.#committer.reserve(count) : undefined)
    return this.#enqueue(() => this.#runExclusive(reserve), false)
  }

  /**
   * Makes the documents of a bulk load visible.
   * @param firstOrdinal as returned by reserve()
   * @param install see Committer.load()
   * @returns false, with nothing changed, if they have to be inserted the ordinary way, for example because an `_id`
   *   already exists
   */
  load(firstOrdinal: number, built: BuiltUnit, install: () => Promise<boolean>): Promise<boolean> {
    const load = async () => {
      await this.#ids.prepare()
      if (await this.#ids.isAnyStored(built.ids)) return false
      if (!(await this.#committer.load(firstOrdinal, built, install))) return false
      this.#ids.noteGreatest(built.ids.greatest)
      return true
    }
    return this.#enqueue(() => this.#runExclusive(load), false)
  }

  /** Called when writes pause: does the maintenance that the next insert would otherwise wait for. Never rejects. */
  async maintainWhenIdle(): Promise<void> {
    if (!this.#isClosed && this.#index.isMaintenanceDue) await this.#maintainLater()
  }

  /** REQUIRES: inside an exclusive task, no commit in flight. */
  async maintainIfDue(): Promise<void> {
    if (!this.#index.isMaintenanceDue) return
    try {
      await this.#index.maintain(this.#committer.limit)
    } catch (error) {
      throw commitFailed(error)
    }
  }

  /** Rejects new writes and waits for those in flight. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#queue.idle()
    await this.#committer.settle()
  }

  async #runExclusive<T>(task: () => Promise<T>): Promise<T> {
    await this.#committer.settle()
    return task()
  }

  /** @param mayAdd the task may add documents to the index, which has to be ready for them */
  #enqueue<T>(task: () => Promise<T>, mayAdd = true): Promise<T> {
    // Preserves call order: calls made after this one must not join a group queued before it.
    for (const groups of this.#groups) groups.end()
    if (this.#isClosed) return Promise.reject(collectionGone())
    return this.#queue.run(async () => {
      // Not only when the queue is empty, which may never happen.
      if (this.#isMaintenanceDue(mayAdd)) await this.#maintainExclusive()
      try {
        return await task()
      } finally {
        // Once closed, close() no longer waits for tasks that join the queue, and closes the index next.
        const isLast = this.#queue.length === 1 && !this.#isClosed
        if (isLast && this.#isMaintenanceDue(mayAdd)) this.#maintainLater()
      }
    })
  }

  #isMaintenanceDue(mayAdd: boolean): boolean {
    return this.#index.isMaintenanceDue && (mayAdd || this.#index.bulk?.isIdle !== true)
  }

  async #maintainExclusive(): Promise<void> {
    await this.#committer.settle()
    await this.maintainIfDue()
  }

  /** If this fails, maintenance is still due, and the next write gets the error. */
  #maintainLater(): Promise<void> {
    return this.#queue.run(() => this.#maintainExclusive()).catch(() => {})
  }

  async #insert(
    documents: readonly (Document | JsonRecord)[],
    ordered: boolean,
    failuresBefore = this.#committer.failures,
    onBatch?: BatchStarted
  ): Promise<Inserted> {
    await this.#ids.prepare()
    const entries: (Entry | PetalError)[] = []
    const timeSlice = new TimeSlice()
    for (let i = 0; i < documents.length; i++) {
      if (i % entriesPerCheck === 0) {
        if (timeSlice.isOver()) await timeSlice.renew()
      }
      entries.push(prepareEntry(documents[i]!, this.#store.ids, this.#committer))
    }
    const existing = await this.#ids.existing(entries.filter((entry): entry is Entry => !(entry instanceof PetalError)))
    const pending = this.#ids.begin()
    // The promises rather than the commits, which would retain the records of the whole run.
    const commits: Promise<void>[] = []
    const ids: unknown[] = []
    const errors: WriteError[] = []
    let count = 0
    let characters = 0
    let commit = this.#committer.begin('insert', failuresBefore)
    const start = async (end: number): Promise<void> => {
      characters += commit.batch.size
      await this.#committer.start(commit)
      commits.push(commit.done)
      onBatch?.(end, { ids, errors }, commit.done)
    }
    let sinceCheck = 0
    try {
      for (let i = 0; i < entries.length; i++) {
        if (sinceCheck >= charactersPerCheck || this.#cold > 0) {
          if (timeSlice.isOver()) await timeSlice.renew()
          sinceCheck = 0
          this.#cold--
        }
        const before = commit.batch.size
        const entry = entries[i]!
        if (commit.entries?.needsLoad && !(entry instanceof PetalError)) await loadEntries(commit, entry)
        const error =
          entry instanceof PetalError
            ? entry
            : this.#add(commit, entry, existing.size > 0 && existing.has(entry), pending)
        if (error !== undefined) {
          // Detecting the error may have taken any amount of time.
          sinceCheck = charactersPerCheck
          errors.push(writeError(i, error))
          if (ordered) break
          continue
        }
        ids[i] = (entry as Entry).id
        count++
        sinceCheck += commit.batch.size - before + overheadCharacters
        if (!isFull(commit)) continue
        await start(i + 1)
        commit = this.#committer.begin('insert', failuresBefore)
      }
      await start(entries.length)
    } catch (error) {
      this.#committer.abandon(commit)
      this.#ids.release(pending)
      throw error
    }
    const done = Promise.all(commits).then(() => {})
    const forget = (): void => {
      this.#ids.release(pending)
    }
    done.then(forget, forget)
    return { ids, errors, count, characters, done }
  }

  /** @returns why the document is rejected; undefined if it was added to the batch */
  #add(commit: Commit, entry: Entry, exists: boolean, pending: PendingIds): PetalError | undefined {
    const { document, key } = entry
    const isGreatest = this.#ids.isGreatest(key)
    if (exists || (!isGreatest && pending.has(key))) {
      return duplicateKey(this.#name, entry.id)
    }
    try {
      if (document instanceof JsonRecord) this.#committer.addJson(commit, document, key)
      else {
        assertSameId(document, entry)
        this.#committer.add(commit, document, key)
      }
    } catch (error) {
      if (error instanceof PetalError) return error
      throw error
    }
    pending.add(key)
    if (isGreatest) this.#ids.noteGreatest(key)
    return undefined
  }
}
