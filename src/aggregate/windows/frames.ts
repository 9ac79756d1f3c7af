/**
 * Computes which documents of a partition are in the window of each document.
 *
 * Invariant: both ends stay within the partition, and so does an empty window.
 */
import { type Numeric, Type, typeOf } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import { compileFieldPath } from '../field-path.ts'
import type { Bounds, RangeEnd } from './bounds.ts'
import { comparePlaces, type Place, placeOf } from './places.ts'
import {
  type Column,
  type Frame,
  type FramedFunction,
  stepsPerTurn,
  type WindowFunction,
  type WindowPartition,
  type Work
} from './window-function.ts'

/** A function of each document's window. */
export function framed(bounds: Bounds, begin: FramedFunction): WindowFunction {
  return (partition): Column => {
    const frames = framesOf(bounds, partition)
    const values = begin(partition)
    let frame: Frame = { from: 0, to: 0 }
    return {
      *prepare(position) {
        yield* frames.prepare(position)
        frame = frames.value(position)
        if (values.prepare !== undefined) yield* values.prepare(frame)
      },
      value: () => values.value(frame)
    }
  }
}

interface Frames {
  prepare(position: number): Work
  value(position: number): Frame
}

function framesOf(bounds: Bounds, partition: WindowPartition): Frames {
  if (bounds.kind === 'range') return new RangeFrames(bounds, partition)
  const count = partition.documents.length
  const within = (position: number): number => Math.max(0, Math.min(position, count))
  return {
    prepare: () => [],
    value: (position) => ({ from: within(position + bounds.lower), to: within(position + bounds.upper + 1) })
  }
}

/**
 * Searches for the ends from their previous positions: they usually move forward, and backward only if a short month
 * has moved a later date before an earlier one.
 */
class RangeFrames implements Frames {
  readonly #bounds: Bounds & { readonly kind: 'range' }
  readonly #count: number
  readonly #placeAt: (position: number) => Place
  #from = 0
  #to = 0

  constructor(bounds: Bounds & { readonly kind: 'range' }, { documents }: WindowPartition) {
    const read = compileFieldPath(bounds.path)
    this.#bounds = bounds
    this.#count = documents.length
    this.#placeAt = (position) => this.#checked(read(documents[position]))
  }

  *prepare(position: number): Work {
    const { lower, upper } = this.#bounds
    const base = this.#placeAt(position)
    this.#from = yield* this.#seek(lower, base, this.#from, 0, position, (difference) => difference < 0)
    this.#to = yield* this.#seek(upper, base, this.#to, this.#count, position + 1, (difference) => difference <= 0)
  }

  value(): Frame {
    return { from: this.#from, to: this.#to }
  }

  /** Returns the first position that is not before an end. */
  *#seek(
    end: RangeEnd,
    base: Place,
    start: number,
    outermost: number,
    current: number,
    isBefore: (difference: number) => boolean
  ): Generator<undefined, number> {
    if (end === 'unbounded') return outermost
    if (end === 'current') return current
    const bound = end(base)
    const passes = (position: number): boolean => isBefore(comparePlaces(this.#placeAt(position), bound))
    let at = start
    for (; at < this.#count && passes(at); at++) if (at % stepsPerTurn === 0) yield undefined
    for (; at > 0 && !passes(at - 1); at--) if (at % stepsPerTurn === 0) yield undefined
    return at
  }

  #checked(value: unknown): Place {
    const { path, isDate } = this.#bounds
    const type = value === undefined ? undefined : typeOf(value)
    if (type === (isDate ? Type.date : Type.number)) return placeOf(value as Numeric | Date)
    const found = value === undefined ? 'missing' : describeType(value)
    const [condition, wanted] = isDate ? ['with a unit', 'dates'] : ['without a unit', 'numbers']
    throw new TypeError(`${condition}, range needs ${wanted} to sort by, but '${path}' is ${found}`)
  }
}
