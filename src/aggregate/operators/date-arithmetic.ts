/**
 * `$dateAdd`, `$dateSubtract`, `$dateDiff` and `$dateTrunc`. Days and longer units follow the calendar of a time zone;
 * shorter ones have a fixed length.
 */
import { exactInt64 } from '../../model/integers.ts'
import type { Document } from '../../model/types.ts'
import { isNil } from '../expression-values.ts'
import {
  clockOf,
  dateOf,
  dayMilliseconds,
  daysOf,
  instantOf,
  instantOfLocal,
  localOf,
  localOfClock,
  weekday,
  zoneOf
} from './date-values.ts'
import { describe, isNumber, named, type Operators, stringOf } from './operator.ts'

const milliseconds: Readonly<Record<string, number>> = { hour: 3_600_000, minute: 60_000, second: 1000, millisecond: 1 }
const days: Readonly<Record<string, number>> = { week: 7, day: 1 }
const months: Readonly<Record<string, number>> = { year: 12, quarter: 3, month: 1 }
const units = [months, days, milliseconds].flatMap((group) => Object.keys(group))
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
/** Bins of `$dateTrunc` start at January 1 of this year. */
const firstYear = 2000

export const dateArithmeticOperators: Operators = {
  $dateAdd: named(['startDate', 'unit', 'amount'], ['timezone'], (values, name) => moved(values, name, 1)),
  $dateSubtract: named(['startDate', 'unit', 'amount'], ['timezone'], (values, name) => moved(values, name, -1)),
  $dateDiff: named(['startDate', 'endDate', 'unit'], ['timezone', 'startOfWeek'], (values, name) => {
    if (isNil(values.startDate) || isNil(values.endDate) || isNil(values.unit)) return null
    if (lacksFirstDay(values)) return null
    const [zone, firstDay] = [zoneOf(values, name), firstDayOf(values, name)]
    if (zone === null) return null
    const unit = unitOf(values.unit, name)
    const [start, end] = [values.startDate, values.endDate].map((value) => instantOf(value, name)) as [number, number]
    const [before, after] = [localOf(start, zone), localOf(end, zone)]
    const difference = countOf(after, unit, firstDay) - countOf(before, unit, firstDay)
    const length = milliseconds[unit]
    // Whole units that clocks skip or repeat do not count. The sum turns -0 into 0.
    const moved = after - before - (end - start)
    return difference - (length === undefined ? 0 : Math.trunc(moved / length)) + 0
  }),
  $dateTrunc: named(['date', 'unit'], ['binSize', 'timezone', 'startOfWeek'], (values, name) => {
    const { date, unit, binSize = Object.hasOwn(values, 'binSize') ? null : 1 } = values
    if (isNil(date) || isNil(unit) || binSize === null || lacksFirstDay(values)) return null
    const [zone, firstDay] = [zoneOf(values, name), firstDayOf(values, name)]
    if (zone === null) return null
    const size = wholeOf(binSize, `${name}: binSize`)
    if (size <= 0) throw new TypeError(`${name}: binSize must be greater than 0, not ${size}`)
    return dateOf(truncated(instantOf(date, name), unitOf(unit, name), size, zone, firstDay), name)
  })
}

function moved(values: Document, name: string, sign: 1 | -1): Date | null {
  const { startDate, unit: unitValue, amount } = values
  if (isNil(startDate) || isNil(unitValue) || isNil(amount)) return null
  const zone = zoneOf(values, name)
  if (zone === null) return null
  const unit = unitOf(unitValue, name)
  const by = sign * wholeOf(amount, `${name}: amount`)
  const start = instantOf(startDate, name)
  const length = milliseconds[unit]
  if (length !== undefined) return dateOf(start + by * length, name)
  // Keeps an ambiguous local time, which clocks show twice, as it is.
  if (by === 0) return new Date(start)
  const local = localOf(start, zone)
  const dayCount = days[unit]
  const result =
    dayCount === undefined ? monthsLater(local, by * (months[unit] as number)) : local + by * dayCount * dayMilliseconds
  return dateOf(instantOfLocal(dateOf(result, name).getTime(), zone), name)
}

/** If the month has no such day, returns its last day. */
function monthsLater(local: number, count: number): number {
  const { day, ...clock } = clockOf(local)
  const first = { ...clock, month: clock.month + count }
  const last = clockOf(localOfClock({ ...first, month: first.month + 1, day: 0 })).day
  return localOfClock({ ...first, day: Math.min(day, last) })
}

/** Returns how many units have started on clocks since a fixed point in time. */
function countOf(local: number, unit: string, firstDay: number): number {
  const length = milliseconds[unit]
  if (length !== undefined) return Math.floor(local / length)
  const { year, month } = clockOf(local)
  if (months[unit] !== undefined) return Math.floor((year * 12 + month - 1) / months[unit])
  return unit === 'day' ? daysOf(local) : Math.floor((daysOf(local) - firstWeek(firstDay)) / 7)
}

function truncated(instant: number, unit: string, size: number, zone: string, firstDay: number): number {
  const length = milliseconds[unit]
  if (length !== undefined) {
    const first = instantOfLocal(localOfClock({ year: firstYear }), zone)
    return instant - modulo(instant - first, size * length)
  }
  const local = localOf(instant, zone)
  const dayCount = days[unit]
  if (dayCount !== undefined) {
    const first = unit === 'week' ? firstWeek(firstDay) : daysOf(localOfClock({ year: firstYear }))
    const day = daysOf(local)
    return instantOfLocal((day - modulo(day - first, size * dayCount)) * dayMilliseconds, zone)
  }
  const { year, month } = clockOf(local)
  const back = modulo((year - firstYear) * 12 + month - 1, size * (months[unit] as number))
  return instantOfLocal(localOfClock({ year, month: month - back }), zone)
}

/** Returns the first day of the first week of the first year. */
function firstWeek(firstDay: number): number {
  const first = localOfClock({ year: firstYear })
  return daysOf(first) + modulo(firstDay - weekday(first), 7)
}

function modulo(value: number, divisor: number): number {
  const rest = value % divisor
  return rest < 0 ? rest + divisor : rest
}

/** @throws TypeError unless it is a unit */
export function unitOf(value: unknown, name: string): string {
  const unit = stringOf(value, `${name}: unit`)
  if (units.includes(unit)) return unit
  throw new TypeError(`${name}: unit must be one of ${units.join(', ')}, not '${unit}'`)
}

/** Returns undefined for months and longer units, whose length varies. */
export function unitMilliseconds(unit: string): number | undefined {
  const dayCount = days[unit]
  return dayCount === undefined ? milliseconds[unit] : dayCount * dayMilliseconds
}

/** Whether `startOfWeek` is given, but null or missing; it only matters for weeks. */
function lacksFirstDay(values: Document): boolean {
  return values.unit === 'week' && Object.hasOwn(values, 'startOfWeek') && isNil(values.startOfWeek)
}

/** Returns the first day of the week; Sunday is 0. REQUIRES: not lacksFirstDay() */
function firstDayOf(values: Document, name: string): number {
  if (!Object.hasOwn(values, 'startOfWeek') || values.unit !== 'week') return 0
  const text = stringOf(values.startOfWeek, `${name}: startOfWeek`).toLowerCase()
  const day = weekdays.findIndex((each) => each === text || each.slice(0, 3) === text)
  if (day < 0) throw new TypeError(`${name}: startOfWeek must be a day of the week, not '${text}'`)
  return day
}

function wholeOf(value: unknown, what: string): number {
  const whole = isNumber(value) ? exactInt64(value) : undefined
  if (whole !== undefined) return Number(whole)
  throw new TypeError(`${what} takes a whole number, got ${isNumber(value) ? String(value) : describe(value)}`)
}
