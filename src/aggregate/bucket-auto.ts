/**
 * `$bucketAuto`: divides documents, ordered by a value, into a number of buckets of nearly equal size.
 *
 * Invariants:
 * 1. Equal values are in the same bucket; a bucket that grows because of that leaves fewer documents for the next ones.
 * 2. A bucket's `max` is the next one's `min`; the last bucket's `max` is its greatest value, or a number of the series
 *    above it.
 */
import { compareValues } from '../model/compare.ts'
import { type Document, isPlainObject } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { checkKeys, objectOf, wholeNumber } from './arguments.ts'
import { type BucketBounds, boundsByValue, boundsOfSeries, granularities } from './bucket-bounds.ts'
import { type StagePlace, stageError } from './errors.ts'
import type { Expressions } from './expression.ts'
import type { Expression } from './expression-compile.ts'
import { compileFields, countOnly, Group, type GroupField, type GroupOutput } from './group.ts'
import { type Held, HeldDocuments } from './held.ts'
import type { Collector } from './stage.ts'

interface Bucketing {
  readonly place: StagePlace
  readonly groupBy: Expression
  readonly buckets: number
  readonly bounds: BucketBounds
  readonly fields: readonly GroupField[]
}

export class AutoBuckets implements Collector {
  readonly #bucketing: Bucketing
  readonly #held: HeldDocuments<unknown>

  constructor(bucketing: Bucketing) {
    this.#bucketing = bucketing
    this.#held = new HeldDocuments(bucketing.place, compareValues)
  }

  add(document: Document): void {
    const value = this.#bucketing.groupBy(document) ?? null
    this.#bucketing.bounds.check(value)
    this.#held.add(document, value)
  }

  *results(): Iterable<Document | undefined> {
    const { place, buckets, bounds, fields } = this.#bucketing
    const output: GroupOutput = { place, fields, budget: this.#held.budget, areHeld: true }
    const held = yield* this.#held.inOrder()
    const size = Math.max(1, Math.round(held.length / buckets))
    let min: unknown
    let from = 0
    for (let number = 1; from < held.length; number++) {
      let to = number === buckets ? held.length : Math.min(from + size, held.length)
      const end = bounds.end(keyAt(held, to - 1))
      for (; to < held.length && end.has(keyAt(held, to)); to++) yield undefined
      const max = end.max(keyAt(held, to))
      const group = new Group({ min: from === 0 ? bounds.first(keyAt(held, 0)) : min, max }, output)
      min = max
      for (; from < to; from++) {
        group.add((held[from] as Held<unknown>).document)
        yield undefined
      }
      yield yield* group.result()
    }
  }
}

/** Returns undefined after the last document. */
function keyAt(held: readonly Held<unknown>[], at: number): unknown {
  return held[at]?.key
}

export function compileBucketAuto(spec: unknown, place: StagePlace, expressions: Expressions): Bucketing {
  const bucket = objectOf(spec, place)
  checkKeys(bucket, ['groupBy', 'buckets', 'output', 'granularity'], place)
  const { groupBy, output = countOnly, granularity } = bucket
  const isPath = typeof groupBy === 'string' && groupBy.startsWith('$')
  if (!isPath && !isPlainObject(groupBy)) {
    throw stageError('BadValue', place, 'groupBy takes a path that begins with $, or an object')
  }
  if (granularity !== undefined && !granularities.includes(granularity as string)) {
    const shown = typeof granularity === 'string' ? `'${granularity}'` : describeType(granularity)
    throw stageError('BadValue', place, `granularity must be one of ${granularities.join(', ')}, not ${shown}`)
  }
  const buckets = wholeNumber(bucket.buckets, place, 1, 'buckets')
  const fields = compileFields(objectOf(output, place, 'output'), place, expressions)
  const bounds = granularity === undefined ? boundsByValue : boundsOfSeries(granularity as string, place)
  return { place, groupBy: expressions.compile(groupBy, place), buckets, bounds, fields }
}
