/**
 * Commits batches in order and makes them visible.
 *
 * Invariants:
 * 1. A batch is handed to the store when the one before it is applied; one is under way at most.
 * 2. A batch prepared while its predecessor was under way falls with it: it relied on that one's ids.
 * 3. The limit is raised, deletions reach the index and the snapshot is unpinned in one turn: a view captured before
 *    sees nothing of the batch, one captured after sees all of it.
 * 4. Who watches is told of a batch when it is visible, and before the next one is handed to the store.
 * 5. The number of a version is never used twice, not even after a batch that failed. It is the document's ordinal, unless
 *    that is computed from the _id.
 */
import type { Document } from '../../model/types.ts'
import type { BuiltSegment } from '../../sharded-bloom/bulk/bulk-plan.ts'
import type { DocumentIndex } from '../../sharded-bloom/document-index.ts'
import { IndexedRecords } from '../documents/indexed-records.ts'
import type { JsonRecord } from '../documents/json-record.ts'
import { RecordArena } from '../documents/record-arena.ts'
import { utf8Bytes } from '../documents/stored-form.ts'
import { commitFailed, fellWithAnother } from '../errors.ts'
import type { DeclaredIndexes } from '../indexes/declared-indexes.ts'
import type { AdmittedEntries } from '../indexes/entry-writes.ts'
import type { Match } from '../read/confirmer.ts'
import type { CollectionStore } from '../store/collection-store.ts'
import { loadKey, withLoad } from '../store/load-records.ts'
import type { SharedSnapshot, Snapshots } from '../store/snapshots.ts'
import type { CommitKind } from '../watch/change.ts'
import type { ChangeFeed } from '../watch/change-feed.ts'
import { tellCommit } from '../watch/commit-telling.ts'
import { admissionTo, type Commit } from './commit.ts'
import type { CollectionState } from './write-batch.ts'

/** Documents that were built elsewhere. */
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
  readonly #passingArena = new RecordArena('passing')
  #state: CollectionState
  #nextVersion: number
  /** Records of loads that the state counts, and the stored state does not. */
  readonly #loads: Uint8Array[] = []
  /** Above every `_id` that was ever there, where they are counted. */
  nextId: number | undefined
  /** Told how many documents a commit has ended, when the index knows. */
  onDeletions: ((count: number) => void) | undefined
  #underWay: Promise<void> = Promise.resolve()
  #failures = 0
  /** The last one. */
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

  /** What is committed and visible. */
  get state(): CollectionState {
    return this.#state
  }

  /** Versions below it are visible: ordinals, unless those are computed. */
  get limit(): number {
    return this.#state.nextOrdinal
  }

  /** Every ordinal with a visible document is below it. */
  get ordinalLimit(): number {
    return this.#store.ids?.size ?? this.limit
  }

  /** Whether a change stream is told of every change. */
  get isWatched(): boolean {
    return this.#feed.streams.length > 0
  }

  /** Commits that failed so far. */
  get failures(): number {
    return this.#failures
  }

  /** @param failuresBefore others, and the commit fails as well: it would stand in for what was to come before it */
  begin(kind: CommitKind, failuresBefore = this.#failures): Commit {
    const batch = this.#store.newBatch()
    return {
      kind,
      batch,
      arena: batch.copies ? this.#passingArena : new RecordArena('kept'),
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
   * Puts a new document in.
   * @throws PetalError for a document that cannot be stored, or has a unique key of another; the commit is then unchanged
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
   * Puts JSON in as it stands, where its bytes tell what it holds, else the document it holds.
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
   * Puts `document` in the place of a match: a new ordinal and the end of the old one.
   * @returns false when nothing would change, and nothing is then written
   */
  replace(commit: Commit, old: Match, document: Document, id: Uint8Array): boolean {
    const admission = admissionTo(commit, old.ordinal)
    const record = this.#records.replace(this.#nextVersion, old, document, commit.arena, admission?.admit)
    if (record === undefined) return false
    this.#end(commit, old)
    this.#put(commit, record, id, admission?.admitted)
    return true
  }

  remove(commit: Commit, old: Match, id: Uint8Array): void {
    commit.batch.deleteId(id)
    this.#end(commit, old)
    commit.documents--
  }

  /**
   * Starts the commit as soon as the one before it is applied, and resolves then; `commit.done` tells the end.
   * @throws PetalError when the one before it failed
   */
  async start(commit: Commit): Promise<void> {
    await this.settle()
    if (commit.batch.isEmpty) return
    if (commit.failuresBefore !== this.#failures) {
      this.abandon(commit)
      throw fellWithAnother(this.#failure)
    }
    const state: CollectionState = {
      nextOrdinal: this.#nextVersion,
      ...(this.nextId !== undefined && { nextId: this.nextId }),
      documents: this.#state.documents + commit.documents,
      documentBytes: this.#state.documentBytes + commit.documentBytes
    }
    commit.batch.putState(state)
    const loads = [...this.#loads]
    for (const key of loads) commit.batch.putIndexRecord({ key, value: undefined })
    // What is added stands beyond every view's limit, unless ordinals are computed.
    if (commit.removed.length > 0 || this.#store.ids !== undefined) this.#snapshots.pin()
    this.#declared.started(commit.entries)
    commit.done = this.#write(commit, state, loads)
    this.#underWay = commit.done.catch(ignore)
  }

  /** The next `count` ordinals, for documents that are stored by load(), if at all. */
  reserve(count: number): number {
    const first = this.#nextVersion
    this.#nextVersion += count
    return first
  }

  /**
   * Makes documents visible that were built elsewhere, at ordinals that were reserved. REQUIRES: nothing is under way.
   * @param install stores them, and a record of the load; false where it cannot
   * @returns false, and nothing has changed, where it could not, or the index could not take them
   */
  async load(
    firstOrdinal: number,
    { documents, documentBytes, segments }: Loaded,
    install: () => Promise<boolean>
  ): Promise<boolean> {
    const nextOrdinal = firstOrdinal + documents
    const { bulk } = this.#index
    if (!bulk?.mayAdopt({ from: firstOrdinal, to: nextOrdinal })) return false
    // Documents of others may be above them: no view must see them in the store before the index has them.
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
    const ordinalsAfter = Array.from({ length: documents }, (_, i) => firstOrdinal + i)
    await tellCommit({ kind: 'insert', ordinalsBefore: [], ordinalsAfter }, this.#store, undefined, streams)
    return true
  }

  /** Starts the commit and waits until it is applied. */
  async run(commit: Commit): Promise<void> {
    await this.start(commit)
    await commit.done
  }

  /** Takes back what the index was told of a batch that will not be written. Harmless when repeated. */
  abandon(commit: Commit): void {
    const { placement } = this.#index
    for (const version of commit.added.splice(0)) {
      if (placement === undefined) this.#index.remove(version)
      else placement.withdraw(version)
    }
  }

  /** Resolves when no commit is under way. */
  settle(): Promise<void> {
    return this.#underWay
  }

  /** Of the version that comes next. REQUIRES: the `_id` was checked. */
  #ordinalOf(id: Uint8Array): number {
    return this.#store.ids?.ordinalOfKey(id) ?? this.#nextVersion
  }

  /** REQUIRES: the index has the next version. */
  #put(commit: Commit, record: string | Uint8Array, id: Uint8Array, admitted: AdmittedEntries | undefined): void {
    const { batch, added, placed, entries } = commit
    const ordinal = this.#ordinalOf(id)
    // Where ordinals do not tell which document the version is of.
    const { placement } = this.#index
    if (placement !== undefined) batch.putIndexRecord(placement.place(this.#nextVersion, ordinal))
    added.push(this.#nextVersion++)
    placed?.push(ordinal)
    batch.putDocument(ordinal, record)
    batch.putId(id, ordinal)
    if (admitted !== undefined) entries?.put(batch, admitted, ordinal)
    commit.documentBytes += typeof record === 'string' ? utf8Bytes(record) : record.length
  }

  #end(commit: Commit, { ordinal, record }: Match): void {
    commit.batch.deleteDocument(ordinal)
    commit.batch.putIndexRecord(this.#index.removal(ordinal))
    commit.entries?.end(commit.batch, ordinal, record)
    commit.removed.push(ordinal)
    commit.documentBytes -= utf8Bytes(record)
  }

  async #write(commit: Commit, state: CollectionState, loads: readonly Uint8Array[]): Promise<void> {
    let watching: ChangeFeed['streams']
    let before: SharedSnapshot | undefined
    try {
      await this.#store.commit(commit.batch)
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
      this.#declared.ended()
      this.#snapshots.unpin()
    }
    if (watching.length === 0) return
    // The next batch waits: what this one has written is there to be read.
    const { kind, added, placed = added, removed } = commit
    await tellCommit({ kind, ordinalsBefore: removed, ordinalsAfter: placed }, this.#store, before, watching)
  }
}

/** Whoever started the commit has its error from `done`. */
function ignore(): void {}
