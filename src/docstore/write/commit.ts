/** A batch being prepared: its contents, when it is full, and the admission of documents by unique indexes. */
import type { Document } from '../../model/types.ts'
import type { RecordArena } from '../documents/record-arena.ts'
import type { AdmittedEntries, EntryWrites } from '../indexes/entry-writes.ts'
import type { BatchSink } from '../store/store-access.ts'
import type { CommitKind } from '../watch/change.ts'
import type { OrdinalChange } from '../watch/notify-streams.ts'
import type { WriteBatch } from './write-batch.ts'

const maxBatchDocuments = 1000
const maxBatchCharacters = 4 * 1024 * 1024

/** A batch of the store that the commits of several collections share. */
export interface SharedBatch {
  readonly sink: BatchSink
  /** Settles when it is applied. */
  readonly applied: Promise<void>
}

export interface Commit {
  /** What is done to every document; in the part of a transaction, what is done to each, once it is known. */
  changes: CommitKind | readonly OrdinalChange[]
  readonly batch: WriteBatch
  /** undefined for a batch of its own. */
  readonly shared: SharedBatch | undefined
  readonly arena: RecordArena
  /** Entries of declared indexes; undefined if there are none. */
  readonly entries: EntryWrites | undefined
  /** Versions added to the index, to be removed again if the batch fails. */
  readonly added: number[]
  /** Ordinals of the added documents, where versions do not determine them. */
  readonly placed: number[] | undefined
  /** Ordinals of deleted and replaced documents. */
  readonly removed: number[]
  /** Changes to the collection's counters. */
  documents: number
  documentBytes: number
  /** Failure count when preparation began. */
  readonly failuresBefore: number
  /** Settles when the batch is applied; set by start(). */
  done: Promise<void>
}

export function isFull({ batch, added, removed }: Commit): boolean {
  return added.length + removed.length >= maxBatchDocuments || batch.size >= maxBatchCharacters
}

/** Admission of a document by the declared indexes. */
class Admission {
  admitted: AdmittedEntries | undefined
  readonly admit: (document: Document) => void

  constructor(entries: EntryWrites, replaced: number | undefined) {
    this.admit = (document) => {
      this.admitted = entries.admit(document, replaced)
    }
  }
}

/**
 * Returns undefined if no index has to admit documents. @param replaced ordinal of the document being replaced, if any
 */
export function admissionTo({ entries }: Commit, replaced?: number): Admission | undefined {
  return entries && new Admission(entries, replaced)
}
