/**
 * `$bucketAuto`: documents by the order of a value, in so many groups of nearly the same size.
 *
 * Invariants:
 * 1. Equal values are in one bucket; a bucket that has more of them leaves fewer to those behind it.
 * 2. A bucket's `max` is the next one's `min`; that of the last one is its greatest value.
 */
import { compareValues, equalValues } from '../model/compare.ts'
import { type Document, isPlainObject } from '../model/types.ts'
import { checkKeys, objectOf, wholeNumber } from './arguments.ts'
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
    this.#held.add(document, this.#bucketing.groupBy(document) ?? null)
  }

  *results(): Iterable<Document | undefined> {
    const { place, buckets, fields } = this.#bucketing
    const output: GroupOutput = { place, fields, budget: this.#held.budget, areHeld: true }
    const held = yield* this.#held.inOrder()
    const size = Math.max(1, Math.round(held.length / buckets))
    let from = 0
    for (let number = 1; from < held.length; number++) {
      let to = number === buckets ? held.length : Math.min(from + size, held.length)
      for (; to < held.length && equalValues(keyAt(held, to - 1), keyAt(held, to)); to++) yield undefined
      const group = new Group({ min: keyAt(held, from), max: keyAt(held, Math.min(to, held.length - 1)) }, output)
      for (; from < to; from++) {
        group.add((held[from] as Held<unknown>).document)
        yield undefined
      }
      yield group.result()
    }
  }
}

function keyAt(held: readonly Held<unknown>[], at: number): unknown {
  return held[at]?.key
}

export function compileBucketAuto(spec: unknown, place: StagePlace, expressions: Expressions): Bucketing {
  const bucket = objectOf(spec, place)
  checkKeys(bucket, ['groupBy', 'buckets', 'output', 'granularity'], place)
  const { groupBy, output = countOnly } = bucket
  const isPath = typeof groupBy === 'string' && groupBy.startsWith('$')
  if (!isPath && !isPlainObject(groupBy)) {
    throw stageError('BadValue', place, 'groupBy takes a path that begins with $, or an object')
  }
  if (bucket.granularity !== undefined) {
    throw stageError('CommandNotSupported', place, 'granularity is not supported: bounds are values of documents')
  }
  const buckets = wholeNumber(bucket.buckets, place, 1, 'buckets')
  const fields = compileFields(objectOf(output, place), place, expressions)
  return { place, groupBy: expressions.compile(groupBy, place), buckets, fields }
}
