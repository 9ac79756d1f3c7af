/** Groups single inserts that are waiting at the same time into one commit. */
import type { Document } from '../../model/types.ts'
import type { WriteError } from '../errors.ts'

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

interface WaitingInsert {
  readonly document: Document
  readonly resolve: (id: unknown) => void
  readonly reject: (error: unknown) => void
}

const maxGroup = 1000

export class InsertGroups {
  readonly #enqueue: (task: () => Promise<void>) => Promise<void>
  readonly #insertAll: (documents: readonly Document[]) => Promise<Inserted>
  /** The group that further inserts may still join. */
  #open: WaitingInsert[] | undefined

  /**
   * @param enqueue runs a task once earlier ones have ended
   * @param insertAll inserts a run of documents, unordered
   */
  constructor(
    enqueue: (task: () => Promise<void>) => Promise<void>,
    insertAll: (documents: readonly Document[]) => Promise<Inserted>
  ) {
    this.#enqueue = enqueue
    this.#insertAll = insertAll
  }

  /** Resolves with the document's `_id` when it is committed. */
  insert(document: Document): Promise<unknown> {
    if (this.#open === undefined || this.#open.length >= maxGroup) this.#open = this.#begin()
    const group = this.#open
    return new Promise((resolve, reject) => group.push({ document, resolve, reject }))
  }

  /** Closes the current group: later inserts must not join it. */
  end(): void {
    this.#open = undefined
  }

  #begin(): WaitingInsert[] {
    const group: WaitingInsert[] = []
    this.#enqueue(() => this.#insertGroup(group)).catch((error: unknown) => {
      // The task may have failed before it started, during maintenance; without this, inserts would join a group that
      // is never processed.
      if (this.#open === group) this.#open = undefined
      for (const { reject } of group) reject(error)
    })
    return group
  }

  async #insertGroup(group: WaitingInsert[]): Promise<void> {
    if (this.#open === group) this.#open = undefined
    const { ids, errors, done } = await this.#insertAll(group.map(({ document }) => document))
    for (const { index, error } of errors) group[index]?.reject(error)
    // Not awaited, so that the next task can prepare its batch meanwhile. Rejecting an already rejected promise has no
    // effect.
    done.then(
      () => {
        for (let i = 0; i < group.length; i++) group[i]?.resolve(ids[i])
      },
      (error: unknown) => {
        for (const { reject } of group) reject(error)
      }
    )
  }
}
