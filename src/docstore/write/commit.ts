/** A batch that is being prepared: what is in it, when it is full, and who has to agree to a document. */
import type { Document } from '../../model/types.ts'
import type { RecordArena } from '../documents/record-arena.ts'
import type { AdmittedEntries, EntryWrites } from '../indexes/entry-writes.ts'
import type { CommitKind } from '../watch/change.ts'
import type { WriteBatch } from './write-batch.ts'

const maxBatchDocuments = 1000
const maxBatchCharacters = 4 * 1024 * 1024

export interface Commit {
  readonly kind: CommitKind
  readonly batch: WriteBatch
  readonly arena: RecordArena
  /** Entries of declared indexes; undefined when there are none. */
  readonly entries: EntryWrites | undefined
  /** Versions the index was told of, to be taken back should the batch fail. */
  readonly added: number[]
  /** Ordinals of what was added, where versions do not tell them. */
  readonly placed: number[] | undefined
  /** Ordinals. */
  readonly removed: number[]
  /** Change of the collection's counters. */
  documents: number
  documentBytes: number
  /** Failures known when preparation began. */
  readonly failuresBefore: number
  /** Settles when the batch is applied; set by start(). */
  done: Promise<void>
}

export function isFull({ batch, added, removed }: Commit): boolean {
  return added.length + removed.length >= maxBatchDocuments || batch.size >= maxBatchCharacters
}

/** What the declared indexes have said of a document. */
class Admission {
  admitted: AdmittedEntries | undefined
  readonly admit: (document: Document) => void

  constructor(entries: EntryWrites, replaced: number | undefined) {
    this.admit = (document) => {
      this.admitted = entries.admit(document, replaced)
    }
  }
}

/** undefined where nobody has to agree. @param replaced ordinal of the document that is in the place of the one that comes */
export function admissionTo({ entries }: Commit, replaced?: number): Admission | undefined {
  return entries && new Admission(entries, replaced)
}
