/**
 * Operators over dates, in front of the engine's: what has no date gives null, an ObjectId is the date it was made at, and weeks
 * are counted as in MongoDB.
 */
import { isPlainObject, Type, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { isObjectId } from './conversions.ts'
import type { EngineOptions, Evaluate, Operator } from './engine-types.ts'
import { isNil } from './expression-values.ts'
import { offsetAt } from './time-zone.ts'

type Operators = Readonly<Record<string, Operator>>

const partNames = [
  '$year',
  '$month',
  '$dayOfMonth',
  '$hour',
  '$minute',
  '$second',
  '$millisecond',
  '$dayOfYear',
  '$dayOfWeek',
  '$isoDayOfWeek',
  '$isoWeek'
]
const percent = '\u0000'
/** Units that last as long in every zone: they are counted from the offset of the date. */
const isShort = (unit: unknown): boolean => ['hour', 'minute', 'second', 'millisecond'].includes(String(unit))

/** @param given the engine's operators */
export function dateOperators(given: Operators, evaluate: Evaluate): Record<string, Operator> {
  const run = (name: string, argument: unknown, options: EngineOptions): unknown =>
    (given[name] as Operator)({}, argument, options)
  const number = (name: string, date: Date, options: EngineOptions): number => run(name, { date }, options) as number
  // Weeks begin on Sundays; the days before the first one are week 0.
  const week = (date: Date, options: EngineOptions): number => {
    const [day, weekday] = ['$dayOfYear', '$dayOfWeek'].map((name) => number(name, date, options))
    return Math.floor(((day as number) + 7 - (weekday as number)) / 7)
  }
  // The year that has the Thursday of the week.
  const isoWeekYear = (date: Date, options: EngineOptions): number => {
    const names = ['$year', '$month', '$isoWeek']
    const [year = 0, month = 0, isoWeek = 0] = names.map((name) => number(name, date, options))
    if (month === 1 && isoWeek > 50) return year - 1
    return month === 12 && isoWeek === 1 ? year + 1 : year
  }
  const reading =
    (name: string, read: (date: Date, options: EngineOptions) => unknown): Operator =>
    (document, argument, options) => {
      const value = evaluate(document, argument, options)
      const { date, timezone } = datedArgument(Array.isArray(value) && value.length === 1 ? value[0] : value)
      if (isNil(date)) return null
      return read(inZone(dateOf(name, date), timezone), options)
    }
  const dateToString: Operator = (document, argument, options) => {
    const value = evaluate(document, argument, options)
    if (!isPlainObject(value) || !isPlainObject(argument) || !Object.hasOwn(argument, 'date')) {
      throw new TypeError('$dateToString takes { date, format, timezone, onNull }')
    }
    if (isNil(value.date)) return value.onNull ?? null
    const date = dateOf('$dateToString', value.date)
    const local = inZone(date, value.timezone)
    const spelled = (specifier: string): string => {
      switch (specifier) {
        case '%G':
          return String(isoWeekYear(local, options)).padStart(4, '0')
        case '%U':
          return String(week(local, options)).padStart(2, '0')
        case '%w':
          return String(number('$dayOfWeek', local, options))
        case '%%':
          return percent
        default:
          return specifier
      }
    }
    const format = typeof value.format === 'string' ? { format: value.format.replace(/%./g, spelled) } : {}
    const text = run(
      '$dateToString',
      { date, ...format, timezone: offsetText(offsetOf(value.timezone, date)) },
      options
    )
    return String(text).replaceAll(percent, '%')
  }
  /** An operator over named arguments, which is run in the dates' own zone and gives what `back` makes of it. */
  const named =
    (
      name: string,
      dates: readonly string[],
      back: (result: unknown, from: Date, zone: unknown, unit: unknown) => unknown
    ): Operator =>
    (document, argument, options) => {
      const value = evaluate(document, argument, options)
      if (!isPlainObject(value)) throw new TypeError(`${name} takes an object, not ${describeType(value)}`)
      if (dates.some((each) => isNil(value[each]))) return null
      const { timezone, unit, ...others } = value
      const first = dateOf(name, value[dates[0] as string])
      const locals = dates.map((each) => {
        const date = dateOf(name, value[each])
        return [each, isShort(unit) ? moved(date, offsetOf(timezone, first)) : inZone(date, timezone)] as const
      })
      const result = run(
        name,
        { ...others, ...(unit !== undefined && { unit }), ...Object.fromEntries(locals) },
        options
      )
      return back(result, first, timezone, unit)
    }
  const asItIs = (result: unknown): unknown => result
  return {
    ...Object.fromEntries(
      partNames.map((name) => [name, reading(name, (date, options) => number(name, date, options))])
    ),
    $week: reading('$week', week),
    $isoWeekYear: reading('$isoWeekYear', isoWeekYear),
    $dateToString: dateToString,
    $dateAdd: named('$dateAdd', ['startDate'], utcOf),
    $dateSubtract: named('$dateSubtract', ['startDate'], utcOf),
    $dateTrunc: named('$dateTrunc', ['date'], utcOf),
    $dateDiff: named('$dateDiff', ['startDate', 'endDate'], asItIs),
    $dateToParts: named('$dateToParts', ['date'], asItIs)
  }
}

/** null for null and missing. @throws TypeError for what tells no date */
export function toDate(value: unknown): Date | null {
  if (isNil(value)) return null
  if (typeof value === 'string' || typeOf(value) === Type.number) {
    const date = new Date(typeof value === 'string' ? value : Number(String(value)))
    if (!Number.isNaN(date.getTime())) return date
    throw new TypeError(`$toDate cannot read a date from '${String(value)}'`)
  }
  return dateOf('$toDate', value)
}

/** A copy: the engine moves dates to their time zone in place. */
function dateOf(name: string, value: unknown): Date {
  if (value instanceof Date) return new Date(value)
  if (isObjectId(value)) return new Date(Number.parseInt(value.toHexString().slice(0, 8), 16) * 1000)
  throw new TypeError(`${name} takes a date, got ${describeType(value)}`)
}

function datedArgument(value: unknown): { readonly date: unknown; readonly timezone?: unknown } {
  return isPlainObject(value) ? { date: value.date, timezone: value.timezone } : { date: value }
}

/** The date whose UTC is the time that clocks of the zone show. */
function inZone(date: Date, timezone: unknown): Date {
  return moved(date, offsetOf(timezone, date))
}

/** The other way, of a date that was made of `from`. */
function utcOf(local: unknown, from: Date, timezone: unknown, unit: unknown): unknown {
  if (!(local instanceof Date)) return local
  const offset = offsetOf(timezone, from)
  if (isShort(unit)) return moved(local, -offset)
  // Between the two clocks may have been changed.
  const near = offsetOf(timezone, moved(local, -offset))
  return moved(local, -offsetOf(timezone, moved(local, -near)))
}

function moved(date: Date, minutes: number): Date {
  return new Date(date.getTime() + minutes * 60_000)
}

function offsetOf(timezone: unknown, date: Date): number {
  if (isNil(timezone)) return 0
  if (typeof timezone === 'string') return offsetAt(timezone, date)
  throw new TypeError(`a time zone is a string, not ${describeType(timezone)}`)
}

function offsetText(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map((n) =>
    String(n).padStart(2, '0')
  )
  return `${minutes < 0 ? '-' : '+'}${hours}:${rest}`
}
