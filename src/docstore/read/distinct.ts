/**
 * distinct(): finds the distinct values of a path among the matches. For each value that a segment knows, one document
 * is read.
 */
import type { PairExpression, ValuePair } from '../../model/pairs.ts'
import type { ValueBounds } from '../../query/value-bounds.ts'
import type { SegmentCandidates } from '../../sharded-bloom/document-index.ts'
import type { ReadOptions } from '../options.ts'
import type { Match } from './confirmer.ts'
import { DistinctValues, distinctPath } from './distinct-values.ts'
import type { Execution } from './execution.ts'
import { compileAndOpen, compileFind, matchesOf, readToEnd, resultWithoutCollection } from './find.ts'
import { evaluateOn, forEachSegment, readAll } from './segment-reads.ts'
import type { Readable } from './sliced-cursor.ts'
import { forEachStep, type Waiting } from './steps.ts'
import { boundsOfValues, evaluateCounts, knownValues, readFirst } from './value-reads.ts'

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
  const read = (execution: Execution): Waiting<void> => {
    // Segments compare values by code point.
    const bounds = find.order === undefined ? boundsOfValues(execution, find, components) : undefined
    if (bounds !== undefined) return readOthers(execution, { bounds, values, filter: find.filter.bounds })
    return forEachStep(matchesOf(execution, find), (slice) => {
      for (const { document } of slice) values.add(document)
    })
  }
  await readToEnd(collection, find, options, read, new Set([components.join('.')]))
  return values.toArray()
}

interface DistinctQuery {
  readonly filter: PairExpression
  readonly bounds: ValueBounds
  readonly values: DistinctValues
}

/** For each segment, reads the documents that may have values not found yet. */
function readOthers(execution: Execution, query: DistinctQuery): Waiting<void> {
  const { filter, bounds, values } = query
  return forEachSegment(execution, filter, function* (segment, matches) {
    const found = yield* findKnownValues(execution, segment, matches, query)
    const left = yield* evaluateOn(execution, segment, found.length === 0 ? filter : bounds.others(filter, found))
    yield* readAll(execution, left, ({ document }) => values.add(document))
  })
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
