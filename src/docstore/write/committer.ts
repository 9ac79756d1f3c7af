/**
 * Commits batches in order and makes them visible.
 *
 * Invariants:
 * 1. A batch is handed to the store once the previous one is applied; at most one is in flight.
 * 2. A batch prepared while its predecessor was in flight fails if the predecessor does, because it relied on that
 *    one's ids.
 * 3. Raising the limit, applying deletions to the index and unpinning the snapshot happen synchronously: a view
 *    captured before sees nothing of the batch, one captured after sees all of it.
 * 4. Change streams receive a batch once it is visible, and before the next one is handed to the store.
 * 5. A version number is never reused, not even after a failed batch. It is the document's ordinal, unless ordinals are
 *    computed from the _id.
 */
import type { Document } from '../../model/types.ts'
import type { BuiltSegment } from '../../sharded-bloom/bulk/bulk-plan.ts'
import type { DocumentIndex } from '../../sharded-bloom/document-index.ts'
import { IndexedRecords } from '../documents/indexed-records.ts'
import type { JsonRecord } from '../documents/json-record.ts'
import { RecordArena } from '../documents/record-arena.ts'
import { utf8Bytes } from '../documents/stored-form.ts'
import { commitFailed, previousCommitFailed } from '../errors.ts'
import type { DeclaredIndexes } from '../indexes/declared-indexes.ts'
import type { AdmittedEntries } from '../indexes/entry-writes.ts'
import type { Match } from '../read/confirmer.ts'
import type { CollectionStore } from '../store/collection-store.ts'
import { loadKey, withLoad } from '../store/load-records.ts'
import type { SharedSnapshot, Snapshots } from '../store/snapshots.ts'
import type { CommitKind } from '../watch/change.ts'
import type { ChangeFeed } from '../watch/change-feed.ts'
import { notifyStreams, type OrdinalChange } from '../watch/notify-streams.ts'
import { admissionTo, type Commit, type SharedBatch } from './commit.ts'
import type { CollectionState } from './write-batch.ts'

/** Documents built by a bulk load. */
interface Loaded {
  readonly documents: number
  readonly documentBytes: number
  readonly segments: readonly BuiltSegment[]
}

export class Committer {
  readonly #store: CollectionStore
  readonly #index: DocumentIndex
  readonly #snapshots: Snapshots
  readonly #declared: DeclaredIndexes
  readonly #feed: ChangeFeed
  readonly #records: IndexedRecords
  /** For batches that copy records. */
  readonly #transientArena = new RecordArena('transient')
  #state: CollectionState
  #nextVersion: number
  /** Keys of load records that `#state` already includes, but the stored state does not. */
  readonly #loads: Uint8Array[] = []
  /** With auto-incremented `_id`s: greater than every `_id` ever used. */
  nextId: number | undefined
  /** Called with the number of documents a commit has deleted or replaced, once the index has been updated. */
  onDeletions: ((count: number) => void) | undefined
  #inFlight: Promise<void> = Promise.resolve()
  #failures = 0
  /** The error of the last failed commit. */
  #failure: unknown

  constructor(
    store: CollectionStore,
    index: DocumentIndex,
    declared: DeclaredIndexes,
    snapshots: Snapshots,
    feed: ChangeFeed,
    state: CollectionState
  ) {
    this.#store = store
    this.#index = index
    this.#records = new IndexedRecords(index)
    this.#declared = declared
    this.#snapshots = snapshots
    this.#feed = feed
    this.#state = state
    this.#nextVersion = state.nextOrdinal
    this.nextId = state.nextId
  }

  /** The committed, visible state. */
  get state(): CollectionState {
    return this.#state
  }

  /** Versions below this are visible; versions are ordinals, unless those are computed. */
  get limit(): number {
    return this.#state.nextOrdinal
  }

  /** Every visible document has an ordinal below this. */
  get ordinalLimit(): number {
    return this.#store.ids?.size ?? this.limit
  }

  /** Whether a change stream watches the collection. */
  get isWatched(): boolean {
    return this.#feed.streams.length > 0
  }

  /** Number of failed commits. */
  get failures(): number {
    return this.#failures
  }

  /**
   * @param failuresBefore the commit fails if there were other failures since, because it builds on an earlier batch
   */
  begin(kind: CommitKind, failuresBefore = this.#failures): Commit {
    return this.#newCommit(kind, undefined, failuresBefore)
  }

  /** Begins a part of a transaction, which sets `changes`, and commits the shared batch when all parts are started. */
  beginPart(shared: SharedBatch): Commit {
    return this.#newCommit([], shared, this.#failures)
  }

  #newCommit(changes: Commit['changes'], shared: SharedBatch | undefined, failuresBefore: number): Commit {
    const batch = this.#store.newBatch(shared?.sink)
    return {
      changes,
      batch,
      shared,
      arena: batch.copies ? this.#transientArena : new RecordArena('kept'),
      entries: this.#declared.begin(),
      added: [],
      placed: this.#store.ids === undefined ? undefined : [],
      removed: [],
      documents: 0,
      documentBytes: 0,
      failuresBefore,
      done: Promise.resolve()
    }
  }

  /**
   * Adds a new document.
   * @throws PetalError for a document that cannot be stored or violates a unique index; the commit is then unchanged
   */
  add(commit: Commit, document: Document, id: Uint8Array): void {
    const admission = admissionTo(commit)
    this.#put(
      commit,
      this.#records.add(this.#nextVersion, document, commit.arena, admission?.admit),
      id,
      admission?.admitted
    )
    commit.documents++
  }

  /**
   * Checks a document that addAdmitted() adds when others have been checked, too: until then it takes no version.
   * @throws PetalError for one that violates a unique index, also together with those checked before
   */
  admit(commit: Commit, document: Document): AdmittedEntries | undefined {
    return commit.entries?.claim(document)
  }

  /** @param admitted as admit() returned it */
  addAdmitted(commit: Commit, document: Document, id: Uint8Array, admitted: AdmittedEntries | undefined): void {
    this.#put(commit, this.#records.add(this.#nextVersion, document, commit.arena), id, admitted)
    commit.documents++
  }

  /**
   * Adds JSON as is if its bytes can be indexed directly; otherwise adds the parsed document.
   * @throws PetalError for JSON that cannot be stored; the commit is then unchanged
   */
  addJson(commit: Commit, json: JsonRecord, id: Uint8Array): void {
    const admission = admissionTo(commit)
    this.#put(
      commit,
      this.#records.addJson(this.#nextVersion, json, commit.arena, admission?.admit),
      id,
      admission?.admitted
    )
    commit.documents++
  }

  /**
   * Replaces a match by `document`: a new ordinal, and the end of the old one.
   * @returns false if the document would not change; nothing is then written
   */
  replace(commit: Commit, old: Match, document: Document, id: Uint8Array): boolean {
    const admission = admissionTo(commit, old.ordinal)
    const record = this.#records.replace(this.#nextVersion, old, document, commit.arena, admission?.admit)
    if (record === undefined) return false
    this.#delete(commit, old)
    this.#put(commit, record, id, admission?.admitted)
    return true
  }

  remove(commit: Commit, old: Match, id: Uint8Array): void {
    commit.batch.deleteId(id)
    this.#delete(commit, old)
    commit.documents--
  }

  /**
   * Waits until the previous commit is applied, then starts this one; `commit.done` settles when this one has ended.
   * @throws PetalError if the previous commit failed
   */
  async start(commit: Commit): Promise<void> {
    await this.settle()
    const { isEmpty } = commit.batch
    if (commit.failuresBefore !== this.#failures) {
      this.abandon(commit)
      // Documents may have been left out of an empty batch because of the one that failed.
      throw isEmpty ? commitFailed(this.#failure) : previousCommitFailed(this.#failure)
    }
    if (isEmpty) return
    const state: CollectionState = {
      nextOrdinal: this.#nextVersion,
      ...(this.nextId !== undefined && { nextId: this.nextId }),
      documents: this.#state.documents + commit.documents,
      documentBytes: this.#state.documentBytes + commit.documentBytes
    }
    commit.batch.putState(state)
    const loads = [...this.#loads]
    for (const key of loads) commit.batch.putIndexRecord({ key, value: undefined })
    // Added documents are above the limit of every view, unless ordinals are computed.
    if (commit.removed.length > 0 || this.#store.ids !== undefined) this.#snapshots.pin()
    this.#declared.commitStarted(commit.entries)
    commit.done = this.#write(commit, state, loads)
    // The caller that started the commit gets its error from `done`.
    this.#inFlight = commit.done.catch(() => {})
  }

  /** Reserves the next `count` ordinals for documents that load() may store. */
  reserve(count: number): number {
    const first = this.#nextVersion
    this.#nextVersion += count
    return first
  }

  /**
   * Makes documents visible that a bulk load has built at reserved ordinals. REQUIRES: no commit is in flight.
   * @param install stores the documents and a load record; resolves to false if it cannot
   * @returns false, with nothing changed, if they could not be installed, or the index could not adopt them
   */
  async load(
    firstOrdinal: number,
    { documents, documentBytes, segments }: Loaded,
    install: () => Promise<boolean>
  ): Promise<boolean> {
    const nextOrdinal = firstOrdinal + documents
    const { bulk } = this.#index
    if (!bulk?.mayAdopt({ from: firstOrdinal, to: nextOrdinal })) return false
    // Documents with higher ordinals may already be visible, so these are below the limit of views: no view may see
    // them in the store before the index has them.
    this.#snapshots.pin()
    try {
      if (!(await install())) return false
      bulk.adopt(segments)
      this.#state = withLoad(this.#state, { nextOrdinal, documents, documentBytes })
      this.#loads.push(loadKey(firstOrdinal))
    } catch (error) {
      throw commitFailed(error)
    } finally {
      this.#snapshots.unpin()
    }
    const { streams } = this.#feed
    if (streams.length === 0) return true
    const changes = Array.from(
      { length: documents },
      (_, i): OrdinalChange => ({
        kind: 'insert',
        before: undefined,
        after: firstOrdinal + i
      })
    )
    await notifyStreams(changes, this.#store, undefined, streams)
    return true
  }

  /** Starts the commit and waits until it is applied. */
  async run(commit: Commit): Promise<void> {
    await this.start(commit)
    await commit.done
  }

  /** Undoes what the index was told about a batch that will not be written. Calling it again is harmless. */
  abandon(commit: Commit): void {
    const { placement } = this.#index
    for (const version of commit.added.splice(0)) {
      if (placement === undefined) this.#index.remove(version)
      else placement.withdraw(version)
    }
  }

  /** Resolves when no commit is in flight. */
  settle(): Promise<void> {
    return this.#inFlight
  }

  /** Returns the ordinal of the next version. REQUIRES: the `_id` was checked. */
  #ordinalOf(id: Uint8Array): number {
    return this.#store.ids?.ordinalOfKey(id) ?? this.#nextVersion
  }

  /** REQUIRES: the index has the next version. */
  #put(commit: Commit, record: string | Uint8Array, id: Uint8Array, admitted: AdmittedEntries | undefined): void {
    const { batch, added, placed, entries } = commit
    const ordinal = this.#ordinalOf(id)
    // Versions do not determine ordinals here, so the mapping is stored.
    const { placement } = this.#index
    if (placement !== undefined) batch.putIndexRecord(placement.place(this.#nextVersion, ordinal))
    added.push(this.#nextVersion++)
    placed?.push(ordinal)
    batch.putDocument(ordinal, record)
    batch.putId(id, ordinal)
    if (admitted !== undefined) entries?.put(batch, admitted, ordinal)
    commit.documentBytes += typeof record === 'string' ? utf8Bytes(record) : record.length
  }

  #delete(commit: Commit, { ordinal, record }: Match): void {
    commit.batch.deleteDocument(ordinal)
    commit.batch.putIndexRecord(this.#index.removal(ordinal))
    commit.entries?.remove(commit.batch, ordinal, record)
    commit.removed.push(ordinal)
    commit.documentBytes -= utf8Bytes(record)
  }

  async #write(commit: Commit, state: CollectionState, loads: readonly Uint8Array[]): Promise<void> {
    let watching: ChangeFeed['streams']
    let before: SharedSnapshot | undefined
    try {
      await (commit.shared?.applied ?? this.#store.commit(commit.batch))
      for (const ordinal of commit.removed) this.#index.remove(ordinal)
      this.#index.placement?.commit(state.nextOrdinal)
      this.#state = state
      this.#loads.splice(0, loads.length)
      watching = this.#feed.streams
      if (watching.length > 0 && commit.removed.length > 0) before = this.#snapshots.acquire()
      if (commit.removed.length > 0) this.onDeletions?.(commit.removed.length)
    } catch (error) {
      this.#failures++
      this.#failure = error
      this.abandon(commit)
      throw commitFailed(error)
    } finally {
      this.#declared.commitEnded()
      this.#snapshots.unpin()
    }
    if (watching.length === 0) return
    // The next batch waits, so that the records of this one can still be read.
    await notifyStreams(changesOf(commit), this.#store, before, watching)
  }
}

/** Outside transactions, the ordinals of a changed document are at the same position in both lists. */
function changesOf({ changes, added, placed = added, removed }: Commit): readonly OrdinalChange[] {
  if (typeof changes !== 'string') return changes
  const length = Math.max(removed.length, placed.length)
  return Array.from({ length }, (_, i) => ({ kind: changes, before: removed[i], after: placed[i] }))
}
