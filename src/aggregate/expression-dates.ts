/**
 * Operators over dates, in front of the engine's: what has no date gives null, an ObjectId is the date it was made at, and weeks
 * are counted as in MongoDB.
 */
import { isPlainObject, Type, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { isObjectId } from './conversions.ts'
import type { EngineOptions, Evaluate, Operator } from './engine-types.ts'
import { isNil } from './expression-values.ts'

type Operators = Readonly<Record<string, Operator>>
/** Reads a part of a date, in a time zone. */
type Part = (date: Date, timezone: unknown) => unknown

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
/** Operators over named arguments, and those of them that are dates. */
const dateArguments: Readonly<Record<string, readonly string[]>> = {
  $dateAdd: ['startDate'],
  $dateSubtract: ['startDate'],
  $dateDiff: ['startDate', 'endDate'],
  $dateTrunc: ['date'],
  $dateToParts: ['date']
}
const percent = '\u0000'

/** @param given the engine's operators */
export function dateOperators(given: Operators, evaluate: Evaluate): Record<string, Operator> {
  const run = (name: string, argument: unknown, options: EngineOptions): unknown =>
    (given[name] as Operator)({}, argument, options)
  const partOf = (name: string, options: EngineOptions): Part => {
    const part: Part = (date, timezone) => run(name, timezone === undefined ? { date } : { date, timezone }, options)
    return part
  }
  const number = (name: string, date: Date, timezone: unknown, options: EngineOptions): number =>
    partOf(name, options)(date, timezone) as number
  // Weeks begin on Sundays; the days before the first one are week 0.
  const week = (date: Date, timezone: unknown, options: EngineOptions): number => {
    const [day, weekday] = ['$dayOfYear', '$dayOfWeek'].map((name) => number(name, date, timezone, options))
    return Math.floor(((day as number) + 7 - (weekday as number)) / 7)
  }
  // The year that has the Thursday of the week.
  const isoWeekYear = (date: Date, timezone: unknown, options: EngineOptions): number => {
    const names = ['$year', '$month', '$isoWeek']
    const [year = 0, month = 0, isoWeek = 0] = names.map((name) => number(name, date, timezone, options))
    if (month === 1 && isoWeek > 50) return year - 1
    return month === 12 && isoWeek === 1 ? year + 1 : year
  }
  const reading =
    (name: string, read: (date: Date, timezone: unknown, options: EngineOptions) => unknown): Operator =>
    (document, argument, options) => {
      const value = evaluate(document, argument, options)
      const { date, timezone } = datedArgument(Array.isArray(value) && value.length === 1 ? value[0] : value)
      if (isNil(date)) return null
      return read(dateOf(name, date), zoneOf(timezone), options)
    }
  const dateToString: Operator = (document, argument, options) => {
    const value = evaluate(document, argument, options)
    if (!isPlainObject(value) || !isPlainObject(argument) || !Object.hasOwn(argument, 'date')) {
      throw new TypeError('$dateToString takes { date, format, timezone, onNull }')
    }
    if (isNil(value.date)) return value.onNull ?? null
    const date = dateOf('$dateToString', value.date)
    const timezone = zoneOf(value.timezone)
    const spelled = (specifier: string): string => {
      switch (specifier) {
        case '%G':
          return String(isoWeekYear(date, timezone, options)).padStart(4, '0')
        case '%U':
          return String(week(date, timezone, options)).padStart(2, '0')
        case '%w':
          return String(number('$dayOfWeek', date, timezone, options))
        case '%%':
          return percent
        default:
          return specifier
      }
    }
    const format = typeof value.format === 'string' ? { format: value.format.replace(/%./g, spelled) } : {}
    const text = run('$dateToString', { date, ...format, ...(timezone !== undefined && { timezone }) }, options)
    return String(text).replaceAll(percent, '%')
  }
  const named = ([name, dates]: readonly [string, readonly string[]]): [string, Operator] => [
    name,
    (document, argument, options) => {
      const value = evaluate(document, argument, options)
      if (!isPlainObject(value)) throw new TypeError(`${name} takes an object, not ${describeType(value)}`)
      if (dates.some((each) => isNil(value[each]))) return null
      const converted = Object.fromEntries(dates.map((each) => [each, dateOf(name, value[each])]))
      return run(name, { ...value, ...converted, timezone: zoneOf(value.timezone) }, options)
    }
  ]
  return {
    ...Object.fromEntries(
      partNames.map((name) => [name, reading(name, (date, zone, options) => partOf(name, options)(date, zone))])
    ),
    $week: reading('$week', week),
    $isoWeekYear: reading('$isoWeekYear', isoWeekYear),
    $dateToString: dateToString,
    ...Object.fromEntries(Object.entries(dateArguments).map(named))
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

/** The engine knows offsets, and names of an area and a place. */
function zoneOf(timezone: unknown): unknown {
  return isNil(timezone) || timezone === 'UTC' || timezone === 'GMT' || timezone === 'Z' ? undefined : timezone
}
