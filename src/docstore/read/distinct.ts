/**
 * distinct(): finds the distinct values of a path among the matches. For each value that a segment knows, one document
 * is read.
 */
import type { PairExpression, ValuePair } from '../../model/pairs.ts'
import type { ValueBounds } from '../../query/value-bounds.ts'
import type { SegmentCandidates } from '../../sharded-bloom/document-index.ts'
import type { ReadOptions } from '../options.ts'
import { isDense } from './confirm.ts'
import type { Match } from './confirmer.ts'
import { Control } from './control.ts'
import { DistinctValues, distinctPath, newValues } from './distinct-values.ts'
import type { Execution } from './execution.ts'
import {
  type CompiledFind,
  compileAndOpen,
  compileFind,
  matchesOf,
  readToEnd,
  resultWithoutCollection
} from './find.ts'
import { distinctTask } from './parallel/portable-read.ts'
import { evaluateOn, forEachSegment, rangeOf, readAll } from './segment-reads.ts'
import type { Readable } from './sliced-cursor.ts'
import { forEachStep, type Waiting } from './steps.ts'
import { boundsOfValues, evaluateCounts, knownValues, readFirst } from './value-reads.ts'

/** So few documents of a segment are read without threads. */
const minLeft = 4096
/**
 * What threads read are all matches: up to this fraction of them is read sooner without threads, since a document read
 * by key takes more than twice as long as one in a scan, and there is at least one thread.
 */
const maxLeft = 1 / 4
/** Values found per document up to which threads are worth it. Each tells a value only once. */
const maxNew = 1 / 4

/** @throws PetalError BadValue for an invalid path, and as find() */
export async function findDistinct(
  readable: Readable,
  path: unknown,
  filter: unknown,
  options: ReadOptions
): Promise<unknown[]> {
  const components = distinctPath(path)
  const [find, collection] = await compileAndOpen(readable, () => compileFind(filter, options))
  const values = new DistinctValues(components, find.order)
  if (collection === undefined) return resultWithoutCollection(find, [])
  const read = function* (execution: Execution): Waiting<void> {
    // Segments compare values by code point.
    const bounds = find.order === undefined ? boundsOfValues(execution, find, components) : undefined
    if (bounds === undefined) return yield* readMatches(execution, find, components, values)
    const query = { filter: find.filter.bounds, bounds, values }
    if (yield* readOthers(execution, query)) return
    yield* readMatches(execution, find, components, values)
  }
  await readToEnd(collection, find, new Control(options), read, new Set([components.join('.')]))
  return values.toArray()
}

/** Reads all matches, with the help of threads. */
function readMatches(
  execution: Execution,
  find: CompiledFind,
  components: readonly string[],
  values: DistinctValues
): Waiting<void> {
  const parallel = execution.parallel && {
    ...execution.parallel,
    collected: {
      task: () => distinctTask(find.filter, components),
      begin: () => newValues(new DistinctValues(components, find.order)),
      collector: values,
      maxResults: maxNew
    }
  }
  return forEachStep(matchesOf({ ...execution, parallel }, find), (slice) => {
    for (const { document } of slice) values.add(document)
  })
}

interface DistinctQuery {
  readonly filter: PairExpression
  readonly bounds: ValueBounds
  readonly values: DistinctValues
}

/**
 * For each segment, reads the documents that may have values not found yet. Returns false if that leaves most of the
 * work, as the first large segment shows, which threads could help with: then the remaining segments are not read.
 */
function* readOthers(execution: Execution, query: DistinctQuery): Waiting<boolean> {
  const { filter, bounds, values } = query
  let isDecided = execution.parallel === undefined
  let isForThreads = false
  yield* forEachSegment(execution, filter, function* (segment, matches) {
    if (isForThreads) return
    const found = yield* findKnownValues(execution, segment, matches, query)
    const left = yield* evaluateOn(execution, segment, found.length === 0 ? filter : bounds.others(filter, found))
    if (!isDecided && left.upperCount >= minLeft) {
      isDecided = true
      const isScanned = isDense(execution, matches.upperCount, rangeOf(matches))
      isForThreads = isScanned && left.upperCount > maxLeft * matches.upperCount
      if (isForThreads) return
    }
    yield* readAll(execution, left, ({ document }) => values.add(document))
  })
  return !isForThreads
}

/**
 * Returns the values known to the segment that were found before, or that one of its matches has; that match is read.
 */
function* findKnownValues(
  execution: Execution,
  segment: number,
  matches: SegmentCandidates,
  { filter, bounds, values }: DistinctQuery
): Waiting<ValuePair[]> {
  const pairs = yield* knownValues(execution, segment, matches, bounds)
  const isFound = ({ value }: ValuePair): boolean => values.has(value)
  // Querying the index for a value costs about as much as reading a document.
  if (pairs.filter((pair) => !isFound(pair)).length > matches.upperCount) return pairs.filter(isFound)
  for (const pair of pairs) {
    if (isFound(pair)) continue
    const found = yield* evaluateCounts(execution, segment, bounds.only(filter, pair))
    if (found.lowerCount > 0) yield* readFirst(execution, found, ({ document }: Match) => values.add(document))
  }
  return pairs.filter(isFound)
}
