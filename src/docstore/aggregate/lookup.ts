/**
 * `$lookup`: adds documents of another collection to each document.
 *
 * For equality joins, the values of a slice's documents are looked up together, with one read through the index per
 * batch; exact equality then decides which of the documents found belong to which.
 */
import { type StagePlace, withStage } from '../../aggregate/errors.ts'
import { stageBudget } from '../../aggregate/group.ts'
import { type GroupKey, groupKey } from '../../aggregate/group-key.ts'
import { withNestedField } from '../../aggregate/nested-field.ts'
import type { ForeignPipeline, Join, Lookup } from '../../aggregate/stage.ts'
import { estimateBytes } from '../../model/memory-budget.ts'
import { splitPath } from '../../model/path.ts'
import type { Document } from '../../model/types.ts'
import { compileNormalForm } from '../../query/filter.ts'
import { someValue } from '../../query/path-values.ts'
import { equalsOneOf } from '../../query/value-filter.ts'
import { matchingRead, valuesAt } from './foreign-read.ts'
import { type Documents, noDocuments, pauseIfDue, toSlices, transform, visitEach } from './slices.ts'
import type { StageContext } from './stage-context.ts'

type Equality = Join & { readonly kind: 'equality' }

/** Documents that share one read of the other collection. */
const batchDocuments = 256
/** Values after which no more documents share a read: those of long arrays are as much work as many documents. */
const batchValues = 1000

/** Documents found after which those that they were joined to are passed on: a batch may find as many for each. */
const maxJoined = 4096

/** Runs a pipeline over another collection, or over documents of its own. */
export function foreignDocuments({ collection, pipeline }: ForeignPipeline, context: StageContext): Documents {
  const { read, stages } = pipeline
  const isRead = collection !== undefined && read !== undefined
  return context.run(isRead ? context.sources.find(collection, read, context.control) : noDocuments(), stages, context)
}

export function runLookup(source: Documents, place: StagePlace, lookup: Lookup, context: StageContext): Documents {
  const { join } = lookup
  if (join.kind === 'equality') {
    return transform(source, (slice) => joinByValues(slice, place, lookup, join, context))
  }
  let shared: readonly Document[] | undefined
  return transform(source, function* (slice) {
    const joined = new Joined(lookup.as)
    for (const document of slice) {
      const pipeline = (): Documents => foreignDocuments(join.from, context)
      const found =
        shared ?? (yield* withVariables(document, lookup, context, () => collect(pipeline(), place, context)))
      if (join.isShared) shared = found
      joined.add(document, [...found])
      if (joined.isFull) yield joined.take()
      yield* pauseIfDue(context.control)
    }
    yield joined.take()
  })
}

function* joinByValues(
  slice: readonly Document[],
  place: StagePlace,
  lookup: Lookup,
  join: Equality,
  context: StageContext
): Documents {
  const { localField, foreignField, stages } = join
  const localValues = valuesAt(localField)
  for (let from = 0; from < slice.length; ) {
    const batch: { document: Document; values: readonly unknown[]; keys: readonly GroupKey[] }[] = []
    for (let count = 0; count < batchValues && batch.length < batchDocuments && from < slice.length; from++) {
      const document = slice[from] as Document
      // A missing value counts as null.
      const values = localValues(document) ?? [null]
      batch.push({ document, values, keys: withStage(place, () => values.map(groupKey)) })
      count += values.length
    }
    const wanted = new Map(batch.flatMap(({ values, keys }) => keys.map((key, i) => [key, values[i]] as const)))
    const read = matchingRead(compileNormalForm(equalsOneOf(foreignField, [...wanted.values()])))
    const foreign = new ByValue(foreignField, wanted)
    const budget = stageBudget(place)
    yield* visitEach(context.sources.find(join.collection, read, context.control), context.control, (document) => {
      budget.change(estimateBytes(document))
      foreign.add(document)
    })
    const joined = new Joined(lookup.as)
    for (const { document, keys } of batch) {
      let found = foreign.get(keys)
      if (stages.length > 0) {
        const over = (): Documents => context.run(toSlices(found, context.control), stages, context)
        found = yield* withVariables(document, lookup, context, () => collect(over(), place, context))
      }
      joined.add(document, found)
      if (joined.isFull) yield joined.take()
      yield* pauseIfDue(context.control)
    }
    yield joined.take()
  }
}

/** Documents with what they were joined to, to be passed on before they hold too much. */
class Joined {
  readonly #as: readonly string[]
  #documents: Document[] = []
  #found = 0

  constructor(as: readonly string[]) {
    this.#as = as
  }

  get isFull(): boolean {
    return this.#found >= maxJoined
  }

  add(document: Document, found: readonly Document[]): void {
    this.#documents.push(withNestedField(document, this.#as, found))
    this.#found += found.length
  }

  /** Returns those added since the last call. */
  take(): readonly Document[] {
    const documents = this.#documents
    this.#documents = []
    this.#found = 0
    return documents
  }
}

/** Documents by the values of a path. */
class ByValue {
  readonly #walk: (document: Document) => boolean
  readonly #wanted: ReadonlyMap<GroupKey, unknown>
  readonly #found = new Map<GroupKey, { readonly arrival: number; readonly document: Document }[]>()
  #keys = new Set<GroupKey>()
  #arrivals = 0

  /** @param wanted other values are not kept */
  constructor(field: string, wanted: ReadonlyMap<GroupKey, unknown>) {
    this.#wanted = wanted
    this.#walk = someValue({ text: field, components: splitPath(field) }, 'elements', (value) => {
      const key = groupKey(value)
      if (this.#wanted.has(key)) this.#keys.add(key)
      return false
    })
  }

  add(document: Document): void {
    this.#keys = new Set()
    this.#walk(document)
    const entry = { arrival: this.#arrivals++, document }
    for (const key of this.#keys) {
      const list = this.#found.get(key)
      if (list === undefined) this.#found.set(key, [entry])
      else list.push(entry)
    }
  }

  /** Returns the documents with one of the values, each once, in the order they were added. */
  get(keys: readonly GroupKey[]): Document[] {
    const entries = new Set(keys.flatMap((key) => this.#found.get(key) ?? []))
    return [...entries].sort((a, b) => a.arrival - b.arrival).map(({ document }) => document)
  }
}

/** Runs a pipeline with the document's variables assigned, and restores their previous values at the end. */
function* withVariables<T>(
  document: Document,
  { variables }: Lookup,
  { sources }: StageContext,
  run: () => Generator<Promise<unknown>, T, unknown>
): Generator<Promise<unknown>, T, unknown> {
  const restore = sources.expressions.assign(variables.map(({ name, value }) => [name, value(document)]))
  try {
    return yield* run()
  } finally {
    restore()
  }
}

function* collect(
  source: Documents,
  place: StagePlace,
  { control }: StageContext
): Generator<Promise<unknown>, Document[], unknown> {
  const budget = stageBudget(place)
  const documents: Document[] = []
  yield* visitEach(source, control, (document) => {
    budget.change(estimateBytes(document))
    documents.push(document)
  })
  return documents
}
