/** Operators that take dates apart and put them together. */

import { exactInt64 } from '../../model/integers.ts'
import { type Document, isPlainObject } from '../../model/types.ts'
import { isNil } from '../expression-values.ts'
import {
  type Clock,
  clockOf,
  dateOf,
  dayOfYear,
  type IsoWeek,
  instantOf,
  instantOfLocal,
  isoWeekOf,
  localOf,
  localOfClock,
  localOfIsoWeek,
  weekday,
  weekOf,
  zoneOf
} from './date-values.ts'
import { describe, isNumber, named, type Operator, type Operators } from './operator.ts'

export const datePartOperators: Operators = {
  $year: reading((local) => clockOf(local).year),
  $month: reading((local) => clockOf(local).month),
  $dayOfMonth: reading((local) => clockOf(local).day),
  $hour: reading((local) => clockOf(local).hour),
  $minute: reading((local) => clockOf(local).minute),
  $second: reading((local) => clockOf(local).second),
  $millisecond: reading((local) => clockOf(local).millisecond),
  $dayOfYear: reading(dayOfYear),
  $dayOfWeek: reading((local) => weekday(local) + 1),
  $week: reading(weekOf),
  $isoDayOfWeek: reading((local) => isoWeekOf(local).day),
  $isoWeek: reading((local) => isoWeekOf(local).week),
  $isoWeekYear: reading((local) => isoWeekOf(local).year),
  $dateToParts: named(['date'], ['timezone', 'iso8601'], (values, name) => {
    const { date } = values
    const { iso8601 = Object.hasOwn(values, 'iso8601') ? null : false } = values
    const zone = zoneOf(values, name)
    if (zone === null || iso8601 === null) return null
    if (typeof iso8601 !== 'boolean') {
      throw new TypeError(`${name}: iso8601 takes true or false, not ${describe(iso8601)}`)
    }
    if (isNil(date)) return null
    const local = localOf(instantOf(date, name), zone)
    const { year, month, day, ...time } = clockOf(local)
    if (!iso8601) return { year, month, day, ...time }
    const iso = isoWeekOf(local)
    return { isoWeekYear: iso.year, isoWeek: iso.week, isoDayOfWeek: iso.day, ...time }
  }),
  $dateFromParts: (argument, compiler, name) => {
    const time = ['hour', 'minute', 'second', 'millisecond']
    const isIso = isPlainObject(argument) && Object.hasOwn(argument, 'isoWeekYear')
    const [first, second, third] = isIso ? ['isoWeekYear', 'isoWeek', 'isoDayOfWeek'] : ['year', 'month', 'day']
    const compile = named([first as string], [second as string, third as string, ...time, 'timezone'], fromParts)
    return compile(argument, compiler, name)
  }
}

/** An operator on a date, given alone or with a time zone; null if there is no date or zone. */
function reading(read: (local: number) => number): Operator {
  const withZone = named(['date'], ['timezone'], (values, name) => {
    if (isNil(values.date)) return null
    const zone = zoneOf(values, name)
    return zone === null ? null : read(localOf(instantOf(values.date, name), zone))
  })
  return (argument, compiler, name) => {
    if (Array.isArray(argument) && argument.length !== 1) {
      throw new TypeError(`${name} takes one argument, got ${argument.length}`)
    }
    const date: unknown = Array.isArray(argument) ? argument[0] : argument
    const isNamed = isPlainObject(date) && !Object.keys(date)[0]?.startsWith('$')
    return withZone(isNamed ? date : { date }, compiler, name)
  }
}

function fromParts(values: Document, name: string): Date | null {
  const zone = zoneOf(values, name)
  const { timezone: _zone, ...parts } = values
  if (zone === null || Object.values(parts).some(isNil)) return null
  const numbers: Record<string, number> = {}
  for (const [part, value] of Object.entries(parts)) numbers[part] = partOf(value, `${name}: ${part}`, ...rangeOf(part))
  const { isoWeekYear, isoWeek: week = 1, isoDayOfWeek: day = 1, ...clock } = numbers
  const ofDay =
    isoWeekYear === undefined
      ? localOfClock(clock as Partial<Clock> & Pick<Clock, 'year'>)
      : localOfIsoWeek({ year: isoWeekYear, week, day } satisfies IsoWeek) + localOfClock({ ...clock, year: 1970 })
  return dateOf(instantOfLocal(ofDay, zone), name)
}

/** Parts other than the year must fit in 16 bits, except for seconds and milliseconds. */
function rangeOf(part: string): readonly [least: number, most: number] {
  if (part === 'year' || part === 'isoWeekYear') return [1, 9999]
  if (part === 'second' || part === 'millisecond') return [-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
  return [-(2 ** 15), 2 ** 15 - 1]
}

function partOf(value: unknown, what: string, least: number, most: number): number {
  const whole = isNumber(value) ? exactInt64(value) : undefined
  if (whole !== undefined && whole >= least && whole <= most) return Number(whole)
  const got = isNumber(value) ? String(value) : describe(value)
  throw new TypeError(`${what} takes a whole number from ${least} to ${most}, got ${got}`)
}
