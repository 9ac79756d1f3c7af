/**
 * `$densify`: adds documents for missing values of a field.
 *
 * Invariants:
 * 1. Values are the lower bound plus a whole number of steps. Dates advance one step at a time, so a short month
 *    shortens all later dates.
 * 2. Bounds given as an array apply to each partition, excluding the upper one; the other kinds include the least and
 *    greatest values.
 * 3. Generated documents are not held, but created as they are requested.
 */
import { type PlainNumber, product, sum } from '../model/arithmetic.ts'
import { compareValues } from '../model/compare.ts'
import { compareNumbers, toDouble, unwrapNumber } from '../model/numbers.ts'
import { type Document, isPlainObject, type Numeric, Type, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { checkKeys, objectOf, pathOf, wholeNumber } from './arguments.ts'
import { type StagePlace, stageError } from './errors.ts'
import type { Expressions } from './expression.ts'
import { ownValueAt } from './field-path.ts'
import { HeldDocuments } from './held.ts'
import { partitionByPaths, partitionPaths } from './partition.ts'
import { withValueAt } from './set-path.ts'
import type { Collector } from './stage.ts'

type Value = PlainNumber | Date

interface Bounds {
  readonly lower: Value
  readonly upper: Value
}

export interface Densification {
  readonly place: StagePlace
  readonly field: readonly string[]
  readonly partitionPaths: readonly (readonly string[])[]
  readonly partitionOf: (document: Document) => Document
  readonly bounds: 'full' | 'partition' | Bounds
  readonly isDate: boolean
  /**
   * Returns the value `count` steps after `lower`; undefined if no date is that late.
   * @param before the previous value
   */
  readonly stepped: (lower: Value, count: number, before: Value) => Value | undefined
}

const units = ['millisecond', 'second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']

interface Key {
  readonly partition: Document
  /** null for a document that is passed through. */
  readonly value: Value | null
}

export class Densified implements Collector {
  readonly #densification: Densification
  readonly #held: HeldDocuments<Key>
  /** Over all values. */
  #least: Value | undefined
  #greatest: Value | undefined

  constructor(densification: Densification) {
    this.#densification = densification
    this.#held = new HeldDocuments(
      densification.place,
      (a, b) => compareValues(a.partition, b.partition) || compareValues(a.value, b.value)
    )
  }

  add(document: Document): void {
    const value = this.#valueOf(document)
    this.#held.add(document, { partition: this.#densification.partitionOf(document), value })
    if (value === null) return
    if (this.#least === undefined || compareValues(value, this.#least) < 0) this.#least = value
    if (this.#greatest === undefined || compareValues(value, this.#greatest) > 0) this.#greatest = value
  }

  *results(): Iterable<Document | undefined> {
    const { partitionPaths } = this.#densification
    const held = yield* this.#held.inOrder()
    let gaps = partitionPaths.length === 0 ? this.#gapsOf({}) : undefined
    for (const { document, key } of held) {
      if (gaps === undefined || compareValues(gaps.partition, key.partition) !== 0) {
        if (gaps !== undefined) yield* gaps.rest()
        gaps = this.#gapsOf(key.partition)
      }
      if (key.value !== null) yield* gaps.before(key.value)
      yield document
    }
    if (gaps !== undefined) yield* gaps.rest()
  }

  #gapsOf(partition: Document): Gaps {
    const { bounds } = this.#densification
    if (typeof bounds === 'object') return new Gaps(this.#densification, partition, bounds.lower, bounds.upper)
    if (bounds === 'partition') return new Gaps(this.#densification, partition)
    return new Gaps(this.#densification, partition, this.#least, this.#greatest)
  }

  #valueOf(document: Document): Value | null {
    const { place, field, isDate } = this.#densification
    const value = ownValueAt(document, field)
    if (value === undefined || value === null) return null
    const found = checkedValue(value)
    if (found !== undefined && found instanceof Date === isDate) return found
    const [condition, wanted] = isDate ? ['with a unit', 'a date'] : ['without a unit', 'a finite number']
    const problem = `${condition}, '${field.join('.')}' must be ${wanted}, not ${describeType(value)}`
    throw stageError('BadValue', place, problem)
  }
}

/** Generates the missing documents of one partition, in order. */
class Gaps {
  readonly partition: Document
  readonly #densification: Densification
  readonly #base: Document
  readonly #upper: Value | undefined
  #lower: Value | undefined
  #next: Value | undefined
  #count = 0
  /** A partition without values is not filled; all documents without partitioning count as one that is. */
  #hasValues: boolean

  /** @param lower defaults to the first value; @param upper defaults to the last value */
  constructor(densification: Densification, partition: Document, lower?: Value, upper?: Value) {
    const { partitionPaths } = densification
    this.partition = partition
    this.#hasValues = partitionPaths.length === 0
    this.#densification = densification
    this.#base = partitionPaths.reduce<Document>(
      (base, path) => withValueAt(base, path, partition[path.join('.')], undefined),
      {}
    )
    this.#lower = lower
    this.#upper = upper
    this.#next = this.#within(lower)
  }

  /** Yields the missing documents before a value of the partition. */
  *before(value: Value): Iterable<Document> {
    if (this.#lower === undefined) {
      this.#lower = value
      this.#next = value
    }
    this.#hasValues = true
    while (this.#next !== undefined) {
      const difference = compareValues(this.#next, value)
      if (difference > 0) return
      if (difference < 0) yield this.#documentOf(this.#next)
      this.#next = this.#following(this.#next)
    }
  }

  /** Yields the missing documents after the partition's last value. */
  *rest(): Iterable<Document> {
    if (this.#upper === undefined || !this.#hasValues) return
    for (; this.#next !== undefined; this.#next = this.#following(this.#next)) yield this.#documentOf(this.#next)
  }

  #documentOf(value: Value): Document {
    return withValueAt(this.#base, this.#densification.field, value, undefined)
  }

  #following(before: Value): Value | undefined {
    const { place, stepped } = this.#densification
    this.#count++
    const next = stepped(this.#lower as Value, this.#count, before)
    if (next === undefined || compareValues(next, before) > 0) return this.#within(next)
    throw stageError('BadValue', place, `range.step is too small: it does not change ${String(before)}`)
  }

  #within(value: Value | undefined): Value | undefined {
    if (value === undefined || this.#upper === undefined) return value
    const difference = compareValues(value, this.#upper)
    return difference < 0 || (difference === 0 && this.#densification.bounds === 'full') ? value : undefined
  }
}

export function compileDensify(spec: unknown, place: StagePlace, expressions: Expressions): Densification {
  const densify = objectOf(spec, place)
  checkKeys(densify, ['field', 'partitionByFields', 'range'], place)
  const field = pathOf(densify.field, place)
  const paths = partitionPaths(densify.partitionByFields, place)
  for (const path of paths) {
    if (!path.every((key, i) => i >= field.length || key === field[i])) continue
    throw stageError('BadValue', place, `partitionByFields has '${path.join('.')}', which overlaps the densified field`)
  }
  const { range } = densify
  if (!isPlainObject(range)) {
    throw stageError('BadValue', place, `range must be an object, not ${describeType(range)}`)
  }
  checkKeys(range, ['step', 'unit', 'bounds'], place)
  const bounds = checkBounds(range.bounds, paths.length > 0, place)
  const isDate = range.unit !== undefined
  if (typeof bounds === 'object' && bounds.lower instanceof Date !== isDate) {
    const problem = isDate
      ? 'range.unit cannot be used with numbers in range.bounds'
      : 'range.unit is required with dates in range.bounds'
    throw stageError('BadValue', place, problem)
  }
  const stepped = isDate ? dateSteps(range, place, expressions) : numberSteps(range.step, place)
  return { place, field, partitionPaths: paths, partitionOf: partitionByPaths(paths), bounds, isDate, stepped }
}

function numberSteps(value: unknown, place: StagePlace): Densification['stepped'] {
  const step = checkedValue(value)
  if (step === undefined || step instanceof Date || compareNumbers(step, 0) <= 0) {
    const found = typeOf(value) === Type.number ? String(value) : describeType(value)
    throw stageError('BadValue', place, `range.step must be a number greater than 0, not ${found}`)
  }
  return (lower, count) => sum(lower as PlainNumber, product(step, count))
}

function dateSteps({ step, unit }: Document, place: StagePlace, expressions: Expressions): Densification['stepped'] {
  if (typeof unit !== 'string' || !units.includes(unit)) {
    const found = typeof unit === 'string' ? `'${unit}'` : describeType(unit)
    throw stageError('BadValue', place, `range.unit must be one of ${units.join(', ')}, not ${found}`)
  }
  const amount = wholeNumber(step, place, 1, 'range.step')
  const later = expressions.compile({ $dateAdd: { startDate: '$date', unit, amount } }, place)
  return (_lower, _count, date) => {
    try {
      return later({ date }) as Date
    } catch {
      // No date is that late.
      return undefined
    }
  }
}

function checkBounds(value: unknown, isPartitioned: boolean, place: StagePlace): Densification['bounds'] {
  if (value === 'full') return value
  if (value === 'partition') {
    if (isPartitioned) return value
    throw stageError('BadValue', place, "range.bounds: 'partition' requires partitionByFields")
  }
  const [lower, upper] = Array.isArray(value) && value.length === 2 ? value.map(checkedValue) : []
  if (lower !== undefined && upper !== undefined && lower instanceof Date === upper instanceof Date) {
    if (compareValues(lower, upper) <= 0) return { lower, upper }
    throw stageError('BadValue', place, 'range.bounds must be in ascending order')
  }
  const wanted = "'full', 'partition', or an array of two numbers or two dates"
  throw stageError('BadValue', place, `range.bounds must be ${wanted}`)
}

/** Returns undefined for anything but a finite number or a date. */
function checkedValue(value: unknown): Value | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : new Date(value)
  if (value === undefined || typeOf(value) !== Type.number) return undefined
  return Number.isFinite(toDouble(value as Numeric)) ? unwrapNumber(value as Numeric) : undefined
}
