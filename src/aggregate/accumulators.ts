/**
 * The accumulators of `$group`, and of `$setWindowFields` for windows. They take one value at a time, so no document
 * needs to be held.
 */
import { compareValues } from '../model/compare.ts'
import { toDouble } from '../model/numbers.ts'
import { type Document, isPlainObject, type Numeric, Type, typeOf } from '../model/types.ts'
import { ExactSum, type SumState } from './exact-sum.ts'
import { isNil } from './expression-values.ts'
import { type GroupKey, groupKey } from './group-key.ts'

export interface Accumulator {
  /** @returns whether the value is retained, and so counts against the stage's memory */
  add(value: unknown): boolean
  /** Returns the result for the values so far, which later values do not change. */
  result(): unknown
  /**
   * Returns data with which another accumulator, which was given what came before, gets to the same state: for its
   * merge(), or, where that is missing, a list of values to add. Missing if there is no such data.
   */
  partial?(): unknown
  merge?(partial: unknown): void
}

export type AccumulatorClass = new () => Accumulator

abstract class Summing implements Accumulator {
  protected readonly sum = new ExactSum()

  abstract result(): unknown

  add(value: unknown): boolean {
    this.sum.add(value)
    return false
  }

  partial(): SumState {
    return this.sum.state()
  }

  merge(partial: unknown): void {
    this.sum.merge(partial as SumState)
  }
}

class Sum extends Summing {
  result(): unknown {
    return this.sum.total()
  }
}

class Average extends Summing {
  result(): unknown {
    return this.sum.average()
  }
}

/** The minimum or maximum; null and missing are ignored. */
abstract class Extreme implements Accumulator {
  #extreme: unknown = null

  protected abstract isBetter(difference: number): boolean

  add(value: unknown): boolean {
    if (isNil(value)) return false
    if (this.#extreme === null || this.isBetter(compareValues(value, this.#extreme))) this.#extreme = value
    return false
  }

  result(): unknown {
    return this.#extreme
  }

  partial(): readonly unknown[] {
    return [this.#extreme]
  }
}

class Least extends Extreme {
  protected isBetter(difference: number): boolean {
    return difference < 0
  }
}

class Greatest extends Extreme {
  protected isBetter(difference: number): boolean {
    return difference > 0
  }
}

class First implements Accumulator {
  #first: unknown
  #isSet = false

  add(value: unknown): boolean {
    if (this.#isSet) return false
    this.#first = value
    this.#isSet = true
    return true
  }

  result(): unknown {
    return this.#first ?? null
  }

  partial(): readonly unknown[] {
    return this.#isSet ? [this.#first] : []
  }
}

class Last implements Accumulator {
  #last: unknown

  add(value: unknown): boolean {
    this.#last = value
    return false
  }

  result(): unknown {
    return this.#last ?? null
  }

  /** REQUIRES: a value was added, as to every accumulator of a group */
  partial(): readonly unknown[] {
    return [this.#last]
  }
}

/** All values except missing ones. */
class List implements Accumulator {
  readonly #values: unknown[] = []

  add(value: unknown): boolean {
    if (value === undefined) return false
    this.#values.push(value)
    return true
  }

  result(): unknown {
    return [...this.#values]
  }

  partial(): readonly unknown[] {
    return this.#values
  }
}

/** The distinct values, in the order in which they first came. */
class Distinct implements Accumulator {
  readonly #values = new Map<GroupKey, unknown>()

  add(value: unknown): boolean {
    if (value === undefined) return false
    const key = groupKey(value)
    if (this.#values.has(key)) return false
    this.#values.set(key, value)
    return true
  }

  result(): unknown {
    return [...this.#values.values()]
  }

  partial(): readonly unknown[] {
    return [...this.#values.values()]
  }
}

class Count implements Accumulator {
  #count = 0

  add(): boolean {
    this.#count++
    return false
  }

  result(): unknown {
    return this.#count
  }

  partial(): number {
    return this.#count
  }

  merge(partial: unknown): void {
    this.#count += partial as number
  }
}

/** Later fields replace earlier ones of the same name. */
class Merged implements Accumulator {
  #merged: Document = {}
  /** Whether it has been returned, and must not change any more: a copy takes as long as merging all of it. */
  #isReturned = false

  add(value: unknown): boolean {
    if (isNil(value)) return false
    if (!isPlainObject(value)) throw new TypeError('$mergeObjects takes objects')
    const hasMore = Object.keys(value).some((key) => !Object.hasOwn(this.#merged, key))
    if (this.#isReturned) this.#merged = { ...this.#merged }
    this.#isReturned = false
    Object.assign(this.#merged, value)
    // What replaces the value of a field takes its place in memory, too.
    return hasMore
  }

  result(): unknown {
    this.#isReturned = true
    return this.#merged
  }

  partial(): readonly unknown[] {
    return [this.#merged]
  }
}

/**
 * Welford's method, which retains no values. It has no partial(): the results of parts would have other rounding errors.
 */
abstract class Deviation implements Accumulator {
  #count = 0
  #mean = 0
  #squares = 0

  /** Returns the divisor of the sum of squares. */
  protected abstract divisor(count: number): number

  add(value: unknown): boolean {
    if (value === undefined || typeOf(value) !== Type.number) return false
    const number = toDouble(value as Numeric)
    this.#count++
    const distance = number - this.#mean
    this.#mean += distance / this.#count
    this.#squares += distance * (number - this.#mean)
    return false
  }

  result(): unknown {
    const divisor = this.divisor(this.#count)
    return divisor > 0 ? Math.sqrt(this.#squares / divisor) : null
  }
}

class PopulationDeviation extends Deviation {
  protected divisor(count: number): number {
    return count
  }
}

class SampleDeviation extends Deviation {
  protected divisor(count: number): number {
    return count - 1
  }
}

const accumulators: ReadonlyMap<string, AccumulatorClass> = new Map<string, AccumulatorClass>([
  ['$sum', Sum],
  ['$avg', Average],
  ['$min', Least],
  ['$max', Greatest],
  ['$first', First],
  ['$last', Last],
  ['$push', List],
  ['$addToSet', Distinct],
  ['$count', Count],
  ['$mergeObjects', Merged],
  ['$stdDevPop', PopulationDeviation],
  ['$stdDevSamp', SampleDeviation]
])

/** Returns undefined for accumulators that need all documents of a group at once. */
export function accumulatorClass(name: string): AccumulatorClass | undefined {
  return accumulators.get(name)
}
