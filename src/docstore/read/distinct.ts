/**
 * The different values on a path among the matches of a filter.
 *
 * Values with rows of their own are known without their documents: one document of each is read. What is left are documents
 * with other values, and those that may have several.
 */
import type { PairExpression, ValuePair } from '../../model/pairs.ts'
import { ValueBounds } from '../../query/value-bounds.ts'
import type { IndexView, SegmentCandidates } from '../../sharded-bloom/document-index.ts'
import { fromStore } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { ReadOptions } from '../options.ts'
import { type Candidates, inOrder, ofCertain } from './candidates.ts'
import { confirm, type OrdinalRange } from './confirm.ts'
import { Confirmer, type Match } from './confirmer.ts'
import { Control } from './control.ts'
import { DistinctValues } from './distinct-values.ts'
import { type Execution, pauseIfDue } from './execution.ts'
import { beginFind, compileFind, matchesOf } from './find.ts'
import { Meter } from './meter.ts'
import { advance, forEachStep, type Steps, wait } from './steps.ts'

/** Fewer matches of a segment than these are read. */
const minMatches = 64
/** A filter of more terms would have to be looked up for every value. */
const maxTerms = 64

/** @throws PetalError BadValue for a path that is not one, and as find() */
export async function distinctFound(
  collection: OpenCollection | undefined,
  path: unknown,
  filter: unknown,
  options: ReadOptions
): Promise<unknown[]> {
  const values = new DistinctValues(path)
  const find = compileFind(filter, options)
  if (collection === undefined) return []
  const execution = beginFind(collection, find, new Control(options), new Meter())
  try {
    const { plan, declared, view } = execution
    const bounds = ValueBounds.of(values.components)
    const goesByIndex =
      declared === undefined && plan.kind !== 'ids' && find.hint !== 'scan' && isShort(plan.bounds, maxTerms)
    const reading =
      goesByIndex && bounds !== undefined && view.index.values !== undefined
        ? readOthers(execution, plan.bounds, bounds, values)
        : forEachStep(matchesOf(execution, find), (slice) => addAll(slice, values))
    await advance(reading)
    collection.autoRebuild?.noteRead(find, execution.meter)
    return values.toArray()
  } catch (error) {
    throw fromStore(error)
  } finally {
    execution.view.close()
  }
}

function addAll(slice: readonly Match[], values: DistinctValues): void {
  for (const { document } of slice) values.add(document)
}

/** Reads, of each segment, the documents that may have values that were not met. */
function* readOthers(
  execution: Execution,
  filter: PairExpression,
  bounds: ValueBounds,
  values: DistinctValues
): Steps<never> {
  const { meter } = execution
  const { index } = execution.view
  meter.segments += index.segmentCount
  for (let i = 0; i < index.segmentCount; i++) {
    const skipped = index.skip?.(i, filter, 1) ?? 0
    meter.segmentsPruned += skipped
    i += skipped
    if (i === index.segmentCount) break
    const matches = yield* wait(index.evaluate(i, filter))
    meter.seeSegment(matches)
    yield* pauseIfDue(execution)
    if (matches.upperCount === 0) continue
    const met = yield* meetValues(execution, i, matches, { filter, bounds, values })
    const left = met.length === 0 ? matches : yield* wait(index.evaluate(i, bounds.others(filter, met)))
    yield* read(execution, inOrder(left, false), rangeOf(left), values)
  }
}

interface Asked {
  readonly filter: PairExpression
  readonly bounds: ValueBounds
  readonly values: DistinctValues
}

/** Those values with rows of their own in the segment that were met before, or are in one of its matches, which is read. */
function* meetValues(
  execution: Execution,
  segment: number,
  matches: SegmentCandidates,
  { filter, bounds, values }: Asked
): Generator<Promise<unknown>, ValuePair[], unknown> {
  const index: IndexView = execution.view.index
  if (matches.lowerCount < minMatches) return []
  const pairs = (yield* wait(index.values?.(segment, bounds.path) ?? [])).filter((pair) => bounds.proves(pair))
  const isMet = ({ value }: ValuePair): boolean => values.has(value)
  // To ask for a value takes about what a document takes.
  if (pairs.filter((pair) => !isMet(pair)).length > matches.upperCount) return pairs.filter(isMet)
  for (const pair of pairs) {
    if (isMet(pair)) continue
    const found = yield* wait(index.evaluate(segment, bounds.only(filter, pair)))
    yield* pauseIfDue(execution)
    if (found.lowerCount === 0) continue
    let first = 0
    while (!found.isCertain(first)) first++
    yield* read(execution, ofCertain(found.ordinal(first)), rangeOf(found), values)
  }
  return pairs.filter(isMet)
}

function* read(
  execution: Execution,
  candidates: Candidates,
  range: OrdinalRange,
  values: DistinctValues
): Generator<Promise<unknown>, void, unknown> {
  const confirmer = new Confirmer(execution.filter, execution.meter, Number.POSITIVE_INFINITY)
  yield* forEachStep(confirm(execution, confirmer, candidates, range), (slice) => addAll(slice, values))
  addAll(confirmer.take(), values)
}

function rangeOf({ firstOrdinal, endOrdinal }: SegmentCandidates): OrdinalRange {
  return { from: firstOrdinal, to: endOrdinal, reverse: false }
}

/** Whether an expression has so many terms at most. */
function isShort(expression: PairExpression, most: number): boolean {
  return termsUpTo(expression, most) <= most
}

function termsUpTo(expression: PairExpression, most: number): number {
  switch (expression.kind) {
    case 'and':
    case 'or': {
      let terms = 0
      for (const child of expression.children) {
        terms += termsUpTo(child, most)
        if (terms > most) break
      }
      return terms
    }
    case 'not':
      return termsUpTo(expression.child, most)
    case 'bounds':
      return termsUpTo(expression.lower, most) + termsUpTo(expression.upper, most)
    default:
      return 1
  }
}
