/**
 * Fills gaps in the values of a partition's documents, with the previous value or by linear interpolation. Used by
 * `$fill`, and by the window functions `$locf` and `$linearFill`.
 */
import type { PlainNumber } from '../model/arithmetic.ts'
import { equalValues } from '../model/compare.ts'
import { unwrapNumber } from '../model/numbers.ts'
import { type Document, type Numeric, Type, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { type StagePlace, stageError } from './errors.ts'
import type { Expression } from './expression-compile.ts'
import { isNil } from './expression-values.ts'
import { compileFieldPath } from './field-path.ts'
import { interpolate, type Point } from './interpolation.ts'

/** Returns a value for each document; undefined for those that have one. The work may be paused wherever it yields. */
export type Filling = Generator<undefined, readonly unknown[]>

/** Last observation carried forward; null before the first value. */
export function* carried(documents: readonly Document[], current: Expression): Filling {
  const values: unknown[] = []
  let last: unknown = null
  for (const document of documents) {
    const value = current(document)
    values.push(isNil(value) ? last : undefined)
    if (!isNil(value)) last = value
    yield undefined
  }
  return values
}

export interface Line {
  readonly place: StagePlace
  /** Name of the method, such as `linear`. */
  readonly method: string
  readonly current: Expression
  /** Name of `current` in error messages. */
  readonly what: string
  /** Path that the documents are sorted by. */
  readonly path: string
}

/** Linear interpolation between the previous and the next value; null before the first and after the last. */
export function* interpolated(documents: readonly Document[], line: Line): Filling {
  const { place, method, current, what, path } = line
  const placeOf = compileFieldPath(path)
  const values: unknown[] = []
  let before: unknown
  let left: Point | undefined
  /** X coordinates of the documents waiting for the next value. */
  let waiting: PlainNumber[] = []
  for (const document of documents) {
    const at = placeOf(document)
    checkPlace(at, before, line)
    before = at
    const x = at instanceof Date ? at.getTime() : unwrapNumber(at as Numeric)
    const y = current(document)
    if (isNil(y)) {
      values.push(null)
      waiting.push(x)
    } else {
      if (typeOf(y) !== Type.number) {
        const problem = `${method} takes numbers, null and missing values, but ${what} is of type ${describeType(y)}`
        throw stageError('BadValue', place, problem)
      }
      const right = { x, y: unwrapNumber(y as Numeric) }
      const start = values.length - waiting.length
      for (const [i, each] of waiting.entries()) {
        if (left !== undefined) values[start + i] = interpolate(left, right, each)
      }
      values.push(undefined)
      waiting = []
      left = right
    }
    yield undefined
  }
  return values
}

/** @param before the previous document's place in the partition; undefined for the first */
function checkPlace(at: unknown, before: unknown, { place, method, path }: Line): void {
  const type = at === undefined ? undefined : typeOf(at)
  if (type !== Type.number && type !== Type.date) {
    const found = at === undefined ? 'missing' : describeType(at)
    throw stageError('BadValue', place, `${method} needs numbers or dates to sort by, but '${path}' is ${found}`)
  }
  if (before === undefined) return
  if (type !== typeOf(before)) throw stageError('BadValue', place, `'${path}' mixes numbers and dates in one partition`)
  if (equalValues(at, before)) {
    const problem = `${method} needs distinct values to sort by, but '${path}' has duplicates in a partition`
    throw stageError('BadValue', place, problem)
  }
}
