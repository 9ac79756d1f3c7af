/**
 * Merges documents into a collection ($merge): each replaces or updates the document it matches, or is inserted.
 *
 * Invariants:
 * 1. Runs alone in the collection's write queue, so what was read is what is changed.
 * 2. Documents are read and written together only if none of them can match what another one has written.
 * 3. When one is rejected, those before it are merged, and it and those after it are not; but within a group, changes
 *    are committed before inserts.
 */
import { type GroupKey, groupKey } from '../../aggregate/group-key.ts'
import type { Merge } from '../../aggregate/stage.ts'
import { PetalError } from '../../model/errors.ts'
import { encodeKey } from '../../model/key.ts'
import { splitPath } from '../../model/path.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import { allOf, type Filter } from '../../query/ast.ts'
import { compileNormalForm } from '../../query/filter.ts'
import { someValue } from '../../query/path-values.ts'
import { withFields } from '../../query/update/update.ts'
import { equalsOneOf } from '../../query/value-filter.ts'
import { storedForm } from '../documents/stored-form.ts'
import { fromStore } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { Match } from '../read/confirmer.ts'
import type { Control } from '../read/control.ts'
import type { Execution } from '../read/execution.ts'
import { beginReplacing, type CompiledFind, compileFind, matchesOf } from '../read/find.ts'
import { advance, forEachStep } from '../read/steps.ts'
import { type Commit, isFull } from './commit.ts'

interface Incoming {
  readonly document: Document
  /** Values of the `on` paths; undefined if the document cannot match any. */
  readonly values: readonly unknown[] | undefined
}

/** What the documents are merged for. */
export interface Merging {
  readonly merge: Merge
  readonly control: Control
  /** Throws when no more is to be merged. */
  readonly assertWanted: () => void
}

/**
 * @param onBegun called when the wait for other writes is over
 * @throws PetalError MergeStageNoMatchingDocument, ImmutableField, and those of inserts and of the stage
 */
export function mergeDocuments(
  collection: OpenCollection,
  documents: readonly Document[],
  merging: Merging,
  onBegun: () => void
): Promise<void> {
  return collection.writer.exclusive(async () => {
    onBegun()
    merging.assertWanted()
    for (let next = 0; next < documents.length; ) {
      next += await new MergeRun(collection, merging).take(documents, next)
      await collection.writer.maintainIfDue()
    }
  })
}

/** Limit when matching on several paths: every document found is tested against every alternative. */
const maxAlternatives = 32

const noMatches: ReadonlyMap<GroupKey, Match> = new Map()

/** A group of documents that are read and written together. */
class MergeRun {
  readonly #collection: OpenCollection
  readonly #merge: Merge
  readonly #control: Control
  readonly #assertWanted: () => void
  readonly #keysOf: (document: Document) => readonly GroupKey[]
  #commit: Commit | undefined
  #inserts: Document[] = []
  /** Ordinals of the documents changed so far. */
  readonly #changed = new Set<number>()

  constructor(collection: OpenCollection, { merge, control, assertWanted }: Merging) {
    this.#collection = collection
    this.#merge = merge
    this.#control = control
    this.#assertWanted = assertWanted
    this.#keysOf = keysOn(merge.on)
  }

  /** @returns how many documents from `first` on were merged */
  async take(documents: readonly Document[], first: number): Promise<number> {
    const run = this.#runFrom(documents, first)
    const find = this.#findOf(run)
    // Matches are read through the execution's view, for the last time when they are replaced.
    const execution = find && beginReplacing(this.#collection, find, this.#control)
    let taken = 0
    const timeSlice = new TimeSlice()
    try {
      const matches = find && execution ? await this.#matchesBy(find, execution) : noMatches
      for (const { document, values } of run) {
        const key = values && keyOf(values)
        const match = key === undefined ? undefined : matches.get(key)
        // Its current version has to be read again.
        if (match !== undefined && this.#changed.has(match.ordinal)) break
        if (timeSlice.isOver()) await timeSlice.renew()
        this.#assertWanted()
        taken++
        if (match === undefined) this.#insert(document)
        else if (!(await this.#change(match, document, key))) break
      }
    } catch (error) {
      await this.#flush()
      throw fromStore(error)
    } finally {
      execution?.view.close()
    }
    await this.#flush()
    return taken
  }

  /** Returns the longest run of valid documents with distinct match values. Throws if the first document is invalid. */
  #runFrom(documents: readonly Document[], first: number): readonly Incoming[] {
    const run: Incoming[] = []
    const keys = new Set<GroupKey>()
    const end = this.#merge.on.length === 1 ? documents.length : Math.min(documents.length, first + maxAlternatives)
    for (let i = first; i < end; i++) {
      const document = documents[i] as Document
      try {
        const values = this.#merge.valuesOn(document)
        const key = values && keyOf(values)
        if (key !== undefined && keys.has(key)) break
        if (key !== undefined) keys.add(key)
        run.push({ document, values })
      } catch (error) {
        if (i === first) throw error
        break
      }
    }
    return run
  }

  /** Returns undefined if there is nothing to look up. */
  #findOf(run: readonly Incoming[]): CompiledFind | undefined {
    const values = run.flatMap((incoming) => (incoming.values === undefined ? [] : [incoming.values]))
    if (values.length === 0 || this.#merge.whenMatched.kind === 'fail') return undefined
    return compileFind(undefined, {}, { filter: compileNormalForm(filterFor(this.#merge.on, values)) })
  }

  async #matchesBy(find: CompiledFind, execution: Execution): Promise<ReadonlyMap<GroupKey, Match>> {
    const matches = new Map<GroupKey, Match>()
    const finding = forEachStep(matchesOf(execution, find), (slice) => {
      for (const match of slice) for (const key of this.#keysOf(match.document)) matches.set(key, match)
    })
    await advance(finding)
    return matches
  }

  #insert(document: Document): void {
    switch (this.#merge.whenNotMatched) {
      case 'insert':
        this.#inserts.push(document)
        return
      case 'fail':
        throw new PetalError('MergeStageNoMatchingDocument', 'a document has no match in the target collection', {
          details: { on: this.#merge.on }
        })
    }
  }

  /** @returns false if one of the following documents may match what was written */
  async #change(match: Match, document: Document, key: GroupKey | undefined): Promise<boolean> {
    const { whenMatched } = this.#merge
    if (whenMatched.kind === 'keep' || whenMatched.kind === 'fail') return true
    const { committer } = this.#collection
    const changed = storedForm(withFields(match.document, whenMatched.change(match.document, document)))
    this.#commit ??= committer.begin(whenMatched.kind)
    const commit = this.#commit
    if (commit.entries?.needsLoad) await commit.entries.load([match.document, changed])
    if (!committer.replace(commit, match, changed, encodeKey(match.document._id))) return true
    this.#changed.add(match.ordinal)
    if (isFull(commit)) await this.#flush()
    return this.#keysOf(changed).every((other) => other === key)
  }

  async #flush(): Promise<void> {
    const commit = this.#commit
    const inserts = this.#inserts
    this.#commit = undefined
    this.#inserts = []
    if (commit !== undefined) await this.#collection.committer.run(commit)
    if (inserts.length > 0) await this.#collection.writer.insertExclusive(inserts)
  }
}

function filterFor(paths: readonly string[], values: readonly (readonly unknown[])[]): Filter {
  return { kind: 'or', children: values.map((each) => allOf(paths.map((name, i) => equalsOneOf(name, [each[i]])))) }
}

/**
 * Returns the keys of all value combinations, one value per path, under which a document is found; array elements count
 * as values.
 */
function keysOn(paths: readonly string[]): (document: Document) => readonly GroupKey[] {
  const found: unknown[] = []
  const walks = paths.map((text) =>
    someValue({ text, components: splitPath(text) }, 'elements', (value) => {
      if (value !== undefined) found.push(value)
      return false
    })
  )
  return (document) => {
    let combined: readonly (readonly unknown[])[] = [[]]
    for (const walk of walks) {
      found.length = 0
      walk(document)
      combined = combined.flatMap((values) => found.map((value) => [...values, value]))
    }
    return combined.map(keyOf)
  }
}

function keyOf(values: readonly unknown[]): GroupKey {
  return groupKey(values.length === 1 ? values[0] : values)
}
