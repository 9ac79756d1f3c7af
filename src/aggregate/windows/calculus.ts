/**
 * `$derivative` and `$integral` of a value with respect to the sort field, which holds numbers, or dates with a `unit`.
 */
import { difference, multiply, type PlainNumber, product, sum } from '../../model/arithmetic.ts'
import { toDouble, unwrapNumber } from '../../model/numbers.ts'
import { type Document, type Numeric, Type, typeOf } from '../../model/types.ts'
import { stageError } from '../errors.ts'
import type { Expression } from '../expression-compile.ts'
import { compileFieldPath } from '../field-path.ts'
import { isZero, quotient, subtract } from '../operators/arithmetic.ts'
import { unitMilliseconds, unitOf } from '../operators/date-arithmetic.ts'
import { describe, fieldsOf, isNumber } from '../operators/operator.ts'
import { requireSingleSort } from './order.ts'
import { sliding } from './sliding.ts'
import { SlidingSum } from './sliding-sum.ts'
import type { FramedFunction, FunctionContext } from './window-function.ts'

/** Compiled arguments of both. */
interface Curve {
  readonly input: Expression
  /** Returns a document's place: a number, or a date in milliseconds. */
  readonly placeOf: (document: Document) => PlainNumber
  /** undefined without a unit. */
  readonly unitLength: number | undefined
}

/** Slope between the first and last document of a window; null if they are at the same place. */
export function compileDerivative(argument: unknown, context: FunctionContext): FramedFunction {
  const { name } = context
  const { input, placeOf, unitLength } = compileCurve(argument, context)
  return ({ documents }) => ({
    value({ from, to }) {
      if (from === to) return null
      const [first, last] = [documents[from], documents[to - 1]] as [Document, Document]
      const run = subtract([placeOf(last), placeOf(first)], name) as PlainNumber
      const rise = subtract([input(last), input(first)], name) as PlainNumber | null
      if (rise === null) throw new TypeError(`${name} takes numbers, got null or nothing`)
      if (isZero(run)) return null
      const slope = quotient(rise, run)
      return unitLength === undefined ? slope : multiply(slope, unitLength)
    }
  })
}

/** Sum of the trapezoids between the documents of a window. */
export function compileIntegral(argument: unknown, context: FunctionContext): FramedFunction {
  const { name } = context
  const { input, placeOf, unitLength } = compileCurve(argument, context)
  const pointOf = (document: Document | undefined = {}): Point => {
    const [x, y] = [placeOf(document), input(document)]
    if (!isNumber(y)) throw new TypeError(`${name} takes numbers, got ${describe(y)}`)
    return { x, y: unwrapNumber(y) }
  }
  // Area between each document and the previous one. A window's areas start at its second document.
  const areas = sliding(
    ({ documents }) =>
      (position) =>
        areaOf(pointOf(documents[position - 1]), pointOf(documents[position])),
    () => new SlidingSum(false)
  )
  return (partition) => {
    const { documents } = partition
    const sums = areas(partition)
    return {
      *prepare({ from, to }) {
        if (to - from > 1) yield* sums.prepare?.({ from: from + 1, to }) ?? []
      },
      value({ from, to }) {
        if (from === to) return null
        if (to - from === 1) {
          const { x, y } = pointOf(documents[from])
          return isNaNumber(x) || isNaNumber(y) ? Number.NaN : 0
        }
        const area = sums.value({ from: from + 1, to }) as PlainNumber
        if (isNaNumber(area)) return Number.NaN
        return unitLength === undefined ? area : quotient(area, unitLength)
      }
    }
  }
}

function isNaNumber(value: PlainNumber): boolean {
  return Number.isNaN(toDouble(value))
}

interface Point {
  readonly x: PlainNumber
  readonly y: PlainNumber
}

function areaOf(before: Point, after: Point): PlainNumber {
  const width = difference(after.x, before.x)
  return quotient(product(sum(after.y, before.y), width), 2)
}

function compileCurve(argument: unknown, context: FunctionContext): Curve {
  const { name } = context
  const { path } = requireSingleSort(context)
  const fields = fieldsOf(argument, name, ['input'], ['unit'])
  const hasUnit = fields.unit !== undefined
  const unit = hasUnit ? unitOf(fields.unit, name) : undefined
  const unitLength = unit === undefined ? undefined : unitMilliseconds(unit)
  if (hasUnit && unitLength === undefined) {
    throw stageError('FailedToParse', context.place, `${name}: unit must be 'week' or shorter, not '${unit}'`)
  }
  const read = compileFieldPath(path)
  const placeOf = (document: Document): PlainNumber => {
    const at = read(document)
    const type = at === undefined ? undefined : typeOf(at)
    if (type !== (hasUnit ? Type.date : Type.number)) {
      const [condition, wanted] = hasUnit ? ['with a unit', 'dates'] : ['without a unit', 'numbers']
      const found = at === undefined ? 'missing' : describe(at)
      throw new TypeError(`${condition}, ${name} needs ${wanted} to sort by, but '${path}' is ${found}`)
    }
    return at instanceof Date ? at.getTime() : unwrapNumber(at as Numeric)
  }
  return { input: context.compiler.compile(fields.input), placeOf, unitLength }
}
