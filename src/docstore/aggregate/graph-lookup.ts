/**
 * `$graphLookup`: finds what can be reached from each document, step by step. Each step looks up all values found so
 * far in the other collection, with one read through the index.
 *
 * Invariants:
 * 1. A value is looked up once, and a document (by its `_id`) is found once, so that cycles end.
 * 2. Documents come by increasing depth, and in reading order within a depth.
 */
import { type StagePlace, withStage } from '../../aggregate/errors.ts'
import { stageBudget } from '../../aggregate/group.ts'
import { type GroupKey, groupKey } from '../../aggregate/group-key.ts'
import { withNestedField } from '../../aggregate/nested-field.ts'
import type { GraphSearch } from '../../aggregate/stage.ts'
import { estimateBytes } from '../../model/memory-budget.ts'
import type { Document } from '../../model/types.ts'
import { allOf, type Filter } from '../../query/ast.ts'
import { equalsOneOf, exists } from '../../query/value-filter.ts'
import { matchingRead, valuesAt } from './foreign-read.ts'
import { type Documents, pauseIfDue, transform, visitEach } from './slices.ts'
import type { StageContext } from './stage-context.ts'

/** Values that share one read of the other collection. */
const valuesPerRead = 1000
/** Overhead of a value or a document in the sets of known ones. */
const entryBytes = 100

export function runGraphLookup(
  source: Documents,
  place: StagePlace,
  search: GraphSearch,
  context: StageContext
): Documents {
  return transform(source, function* (slice) {
    // One at a time, because the documents reached from one may use the whole memory limit of the stage.
    for (const document of slice) {
      const reached = yield* reachedFrom(document, place, search, context)
      yield [withNestedField(document, search.as, reached)]
      yield* pauseIfDue(context.control)
    }
  })
}

function* reachedFrom(
  document: Document,
  place: StagePlace,
  search: GraphSearch,
  { sources, control }: StageContext
): Generator<Promise<unknown>, readonly Document[], unknown> {
  const budget = stageBudget(place)
  const leadsTo = valuesAt(search.from)
  const known = new Set<GroupKey>()
  const ids = new Set<GroupKey>()
  const reached: Document[] = []
  let next: unknown[] = []
  const note = (value: unknown): void => {
    const key = withStage(place, () => groupKey(value))
    if (known.has(key)) return
    budget.change(estimateBytes(value) + entryBytes)
    known.add(key)
    next.push(value ?? null)
  }
  const start = search.start(document)
  // A missing value leads nowhere.
  if (Array.isArray(start)) for (const value of start) note(value)
  else if (start !== undefined) note(start)
  for (let depth = 0; next.length > 0 && depth <= search.maxDepth; depth++) {
    const values = next
    next = []
    for (let from = 0; from < values.length; from += valuesPerRead) {
      const read = matchingRead(search.narrowed(filterFor(search.to, values.slice(from, from + valuesPerRead))))
      yield* visitEach(sources.find(search.collection, read, control), control, (found) => {
        const id = groupKey(found._id)
        if (ids.has(id)) return
        const result = search.depth === undefined ? found : withNestedField(found, search.depth, depth)
        budget.change(estimateBytes(result) + entryBytes)
        ids.add(id)
        reached.push(result)
        for (const value of leadsTo(result) ?? []) note(value)
      })
    }
  }
  return reached
}

/** Null matches null values, but not missing ones. */
function filterFor(path: string, values: readonly unknown[]): Filter {
  const isOne = equalsOneOf(path, values)
  return values.includes(null) ? allOf([isOne, exists(path)]) : isOne
}
