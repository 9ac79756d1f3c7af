/**
 * Windows that move over a partition: values enter at one end and leave at the other, and each is evaluated once.
 *
 * Invariant: a result equals that of processing all values of the window anew, in order, bit by bit.
 */
import { estimateBytes } from '../../model/memory-budget.ts'
import type { Document } from '../../model/types.ts'
import type { Accumulator } from '../accumulators.ts'
import {
  type Budget,
  type Frame,
  type FramedFunction,
  type FrameValues,
  stepsPerTurn,
  type WindowPartition,
  type Work
} from './window-function.ts'

/** A function of a window's values that is updated as they enter and leave. */
export interface Sliding {
  /** A value enters, after all others. */
  push(value: unknown): void
  /** @param value the first of the window, which leaves */
  shift(value: unknown): void
  /** May be paused wherever it yields. */
  result(window: Queue): Generator<undefined, unknown>
}

/** Returns the value at each position of a partition. */
export type Values = (partition: WindowPartition) => ValueAt
type ValueAt = (position: number) => unknown

/** Values computed from each document. */
export function valuesOf(value: (document: Document) => unknown): Values {
  return ({ documents }) =>
    (position) =>
      value(documents[position] as Document)
}

/** The values of a window, from the first. */
export class Queue implements Iterable<unknown> {
  #values: unknown[] = []
  #first = 0

  get length(): number {
    return this.#values.length - this.#first
  }

  push(value: unknown): void {
    this.#values.push(value)
  }

  /** REQUIRES: it is not empty. */
  shift(): unknown {
    const value = this.#values[this.#first]
    this.#values[this.#first++] = undefined
    // When more than half of the array is unused, move the rest to the front: amortised constant time.
    if (this.#first * 2 > this.#values.length) {
      this.#values = this.#values.slice(this.#first)
      this.#first = 0
    }
    return value
  }

  *[Symbol.iterator](): Generator<unknown> {
    for (let i = this.#first; i < this.#values.length; i++) yield this.#values[i]
  }
}

/** A function of values that enter and leave. */
export function sliding(values: Values, begin: () => Sliding): FramedFunction {
  return (partition) => new SlidingWindow(partition.budget, values(partition), begin)
}

/**
 * For windows that start with the partition: no value leaves them, so an accumulator suffices, and no values are kept.
 */
export function growing(values: Values, begin: () => Accumulator): FramedFunction {
  return (partition) => new GrowingWindow(partition.budget, values(partition), begin)
}

/** Passes all values of the window to a new accumulator each time. */
export class Recomputing implements Sliding {
  readonly #begin: () => Accumulator

  constructor(begin: () => Accumulator) {
    this.#begin = begin
  }

  push(): void {}

  shift(): void {}

  *result(window: Queue): Generator<undefined, unknown> {
    const accumulator = this.#begin()
    let steps = 0
    for (const value of window) {
      accumulator.add(value)
      if (++steps % stepsPerTurn === 0) yield undefined
    }
    return accumulator.result()
  }
}

/** Common to both kinds of windows: the current frame, and its result. */
abstract class MovingWindow implements FrameValues {
  #from = 0
  #to = 0
  #isDone = false
  #result: unknown

  /** Starts over, because the frame moved back or does not overlap the previous one. */
  protected abstract restart(): void
  protected abstract enter(position: number): void
  protected abstract leave(): void
  protected abstract compute(): Generator<undefined, unknown>

  *prepare({ from, to }: Frame): Work {
    if (this.#isDone && from === this.#from && to === this.#to) return
    if (from < this.#from || to < this.#to || from > this.#to) {
      this.restart()
      this.#from = from
      this.#to = from
    }
    for (; this.#to < to; this.#to++) {
      this.enter(this.#to)
      if (this.#to % stepsPerTurn === 0) yield undefined
    }
    for (; this.#from < from; this.#from++) {
      this.leave()
      if (this.#from % stepsPerTurn === 0) yield undefined
    }
    this.#result = yield* this.compute()
    this.#isDone = true
  }

  value(): unknown {
    return this.#result
  }
}

class SlidingWindow extends MovingWindow {
  readonly #budget: Budget
  readonly #valueAt: ValueAt
  readonly #begin: () => Sliding
  #values = new Queue()
  #sliding: Sliding
  #bytes = 0

  constructor(budget: Budget, valueAt: ValueAt, begin: () => Sliding) {
    super()
    this.#budget = budget
    this.#valueAt = valueAt
    this.#begin = begin
    this.#sliding = begin()
  }

  protected restart(): void {
    this.#count(-this.#bytes)
    this.#values = new Queue()
    this.#sliding = this.#begin()
  }

  protected enter(position: number): void {
    const value = this.#valueAt(position)
    this.#count(estimateBytes(value))
    this.#values.push(value)
    this.#sliding.push(value)
  }

  protected leave(): void {
    const value = this.#values.shift()
    this.#count(-estimateBytes(value))
    this.#sliding.shift(value)
  }

  protected compute(): Generator<undefined, unknown> {
    return this.#sliding.result(this.#values)
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    this.#budget.change(bytes)
  }
}

class GrowingWindow extends MovingWindow {
  readonly #budget: Budget
  readonly #valueAt: ValueAt
  readonly #begin: () => Accumulator
  #accumulator: Accumulator
  #bytes = 0

  constructor(budget: Budget, valueAt: ValueAt, begin: () => Accumulator) {
    super()
    this.#budget = budget
    this.#valueAt = valueAt
    this.#begin = begin
    this.#accumulator = begin()
  }

  protected restart(): void {
    this.#budget.change(-this.#bytes)
    this.#bytes = 0
    this.#accumulator = this.#begin()
  }

  protected enter(position: number): void {
    const value = this.#valueAt(position)
    if (!this.#accumulator.add(value)) return
    const bytes = estimateBytes(value)
    this.#bytes += bytes
    this.#budget.change(bytes)
  }

  /** Never called: the first document stays in the window. */
  protected leave(): void {}

  // biome-ignore lint/correctness/useYield: nothing to be interrupted
  protected *compute(): Generator<undefined, unknown> {
    return this.#accumulator.result()
  }
}
