/** The `window` of a window function: how far it extends around each document, in documents or in the sort field. */
import type { PlainNumber } from '../../model/arithmetic.ts'
import { compareNumbers, unwrapNumber } from '../../model/numbers.ts'
import { type Document, isPlainObject, type Numeric } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import { stageError } from '../errors.ts'
import { unitOf } from '../operators/date-arithmetic.ts'
import { isNumber } from '../operators/operator.ts'
import { constantOf } from './constants.ts'
import { movedBy, type Place, placeOf } from './places.ts'
import type { FunctionContext } from './window-function.ts'

/** One end of a range. */
export type RangeEnd =
  | 'unbounded'
  /** The document itself, without its peers. */
  | 'current'
  /** @param base the document's place */
  | ((base: Place) => Place)

export type Bounds =
  /** Positions relative to the document; infinite for unbounded ends. */
  | { readonly kind: 'documents'; readonly lower: number; readonly upper: number }
  | {
      readonly kind: 'range'
      /** The sort field. */
      readonly path: string
      readonly isDate: boolean
      readonly lower: RangeEnd
      readonly upper: RangeEnd
    }

/** The whole partition. */
export const unbounded: Bounds = {
  kind: 'documents',
  lower: Number.NEGATIVE_INFINITY,
  upper: Number.POSITIVE_INFINITY
}

type End = 'unbounded' | 'current' | PlainNumber

/** @throws PetalError FailedToParse */
export function parseBounds(window: unknown, context: FunctionContext): Bounds {
  if (!isPlainObject(window)) throw malformed(context, `it must be an object, not ${describeType(window)}`)
  const unknown = Object.keys(window).find((key) => !['documents', 'range', 'unit'].includes(key))
  if (unknown !== undefined) throw malformed(context, `there is no option '${unknown}'`)
  const [hasDocuments, hasRange, hasUnit] = ['documents', 'range', 'unit'].map((key) => window[key] !== undefined)
  if (hasDocuments && hasRange) throw malformed(context, 'documents and range cannot be combined')
  if (hasUnit && !hasRange) throw malformed(context, 'unit can only be used with range')
  if (hasDocuments) return documentBounds(window.documents, context)
  return hasRange ? rangeBounds(window, context) : unbounded
}

function documentBounds(value: unknown, context: FunctionContext): Bounds {
  const { sort } = context
  const [lower, upper] = parseEnds('documents', value, true, context)
  if (sort === undefined && !(lower === 'unbounded' && upper === 'unbounded')) {
    throw malformed(context, 'documents needs a sortBy, unless both bounds are unbounded')
  }
  const offset = (end: End, infinity: number): number =>
    end === 'unbounded' ? infinity : end === 'current' ? 0 : Number(end)
  return {
    kind: 'documents',
    lower: offset(lower, Number.NEGATIVE_INFINITY),
    upper: offset(upper, Number.POSITIVE_INFINITY)
  }
}

function rangeBounds(window: Document, context: FunctionContext): Bounds {
  const { sort } = context
  const isDate = window.unit !== undefined
  const unit = isDate ? parseUnit(window.unit, context) : undefined
  const ends = parseEnds('range', window.range, isDate, context)
  const [field, ...others] = sort?.keys ?? []
  if (field === undefined || others.length > 0 || field.direction === -1) {
    throw malformed(context, 'range needs a sortBy of one ascending field')
  }
  const [lower, upper] = ends.map((end): RangeEnd => {
    if (end === 'unbounded' || end === 'current') return end
    return unit === undefined ? numberOffset(placeOf(end)) : dateOffset(Number(end), unit, context)
  }) as [RangeEnd, RangeEnd]
  return { kind: 'range', path: field.path, isDate, lower, upper }
}

function numberOffset(distance: Place): RangeEnd {
  return (base) => movedBy(base, distance)
}

function dateOffset(amount: number, unit: string, { compiler }: FunctionContext): RangeEnd {
  const moved = compiler.compile({ $dateAdd: { startDate: '$date', unit, amount } })
  return (base) => {
    try {
      return placeOf(moved({ date: new Date(base as number) }) as Date)
    } catch {
      // No date is that far away: the range ends beyond all of them.
      return amount < 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
    }
  }
}

function parseUnit(unit: unknown, { place, name }: FunctionContext): string {
  try {
    return unitOf(unit, `the window of ${name}`)
  } catch (error) {
    throw stageError('FailedToParse', place, (error as Error).message, error)
  }
}

function parseEnds(
  kind: 'documents' | 'range',
  value: unknown,
  isWhole: boolean,
  context: FunctionContext
): readonly [End, End] {
  if (!Array.isArray(value) || value.length !== 2) {
    throw malformed(context, `${kind} must be an array of two bounds, not ${describeType(value)}`)
  }
  const [lower, upper] = value.map((end) => parseEnd(kind, end, isWhole, context)) as [End, End]
  const [a, b] = [lower, upper].map((end) => (end === 'current' ? 0 : end))
  if (a !== 'unbounded' && b !== 'unbounded' && compareNumbers(a as Numeric, b as Numeric) > 0) {
    throw malformed(
      context,
      `the lower bound of ${kind} must not exceed the upper one: ${String(lower)}, ${String(upper)}`
    )
  }
  return [lower, upper]
}

function parseEnd(kind: string, end: unknown, isWhole: boolean, context: FunctionContext): End {
  if (end === 'unbounded' || end === 'current') return end
  const value = typeof end === 'string' ? end : constantOf(end, `a bound of ${context.name}'s window`, context)
  const number = isNumber(value) ? unwrapNumber(value) : undefined
  if (number !== undefined && (!isWhole || Number.isSafeInteger(Number(String(number))))) return number
  const found = isNumber(value) || typeof value === 'string' ? `'${String(value)}'` : describeType(value)
  const wanted = isWhole ? 'a whole number' : 'a number'
  throw malformed(context, `a bound of ${kind} must be 'unbounded', 'current' or ${wanted}, not ${found}`)
}

function malformed({ place, name }: FunctionContext, problem: string): Error {
  return stageError('FailedToParse', place, `the window of ${name}: ${problem}`)
}
