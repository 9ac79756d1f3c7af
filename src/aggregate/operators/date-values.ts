/**
 * Dates in expressions: instants, and the local time that clocks of a time zone show.
 *
 * A local time is represented by the milliseconds of the instant at which UTC clocks show it.
 */
import type { ObjectId, Timestamp } from 'bson'
import { type Document, Type, typeOf } from '../../model/types.ts'
import { isTimeZone, offsetAt } from '../time-zone.ts'
import { describe, stringOf } from './operator.ts'

export const dayMilliseconds = 86_400_000
const minuteMilliseconds = 60_000
/** The greatest distance of a Date from 1970. Clocks of a zone may show a local time beyond it. */
const maxInstant = 8.64e15
/** The calendar, days of the week included, repeats after that many years. */
const cycleYears = 400
const cycleMilliseconds = 146_097 * dayMilliseconds
/** Years that are safely within the range of a Date. */
const maxYear = 271_000

export const monthNames = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December'
]

/**
 * Returns the milliseconds of a date, or of the creation of an ObjectId or a timestamp; undefined for other values.
 */
export function instantIn(value: unknown): number | undefined {
  if (value instanceof Date) return value.getTime()
  if (value !== undefined && typeOf(value) === Type.objectId) {
    return Number.parseInt((value as ObjectId).toHexString().slice(0, 8), 16) * 1000
  }
  return value !== undefined && typeOf(value) === Type.timestamp ? (value as Timestamp).t * 1000 : undefined
}

/** Like instantIn(). @throws TypeError for other values */
export function instantOf(value: unknown, what: string): number {
  const instant = instantIn(value)
  if (instant !== undefined) return instant
  throw new TypeError(`${what} takes a date, got ${describe(value)}`)
}

/** @throws TypeError for an instant outside of the range of dates */
export function dateOf(instant: number, name: string): Date {
  const date = new Date(instant)
  if (Number.isNaN(date.getTime())) throw new TypeError(`the result of ${name} is out of range for a date`)
  return date
}

/** @throws TypeError for a year that ISO 8601 does not write with four digits */
export function isoText(date: Date, name: string): string {
  const year = date.getUTCFullYear()
  if (year >= 0 && year <= 9999) return date.toISOString()
  throw new TypeError(`${name} takes years from 0 to 9999, got ${year}`)
}

/** Returns UTC if no zone is given; null if it is null or missing. @throws TypeError for an unknown zone */
export function zoneOf(values: Document, name: string): string | null {
  if (!Object.hasOwn(values, 'timezone')) return 'UTC'
  const zone = values.timezone ?? null
  if (zone === null) return null
  const text = stringOf(zone, `${name}: timezone`)
  if (!isTimeZone(text)) throw new TypeError(`${name}: there is no time zone '${text}'`)
  return text
}

/** Whether a zone is UTC itself; a named zone is not, even if its clocks agree with UTC. */
export function isUtc(zone: string): boolean {
  return zone === 'UTC' || zone === 'Z' || /^[+-]00(?::?00)?$/.test(zone)
}

export function localOf(instant: number, zone: string): number {
  return instant + offsetOf(instant, zone)
}

/**
 * Returns the first instant at which clocks show the local time; if they skip it, uses the offset from before the
 * change.
 */
export function instantOfLocal(local: number, zone: string): number {
  const before = offsetOf(local - dayMilliseconds, zone)
  const after = offsetOf(local + dayMilliseconds, zone)
  const offset = [before, after].find((each) => offsetOf(local - each, zone) === each) ?? before
  return local - offset
}

export function offsetOf(instant: number, zone: string): number {
  return Math.round(offsetAt(zone, new Date(instant)) * minuteMilliseconds)
}

export interface Clock {
  readonly year: number
  /** From 1, like days. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly millisecond: number
}

export function clockOf(local: number): Clock {
  const cycles = Math.abs(local) <= maxInstant ? 0 : Math.sign(local)
  const date = new Date(local - cycles * cycleMilliseconds)
  return {
    year: date.getUTCFullYear() + cycles * cycleYears,
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    millisecond: date.getUTCMilliseconds()
  }
}

/** Parts out of range carry over: month 13 is January. */
export function localOfClock(clock: Partial<Clock> & Pick<Clock, 'year'>): number {
  const { year, month = 1, day = 1, hour = 0, minute = 0, second = 0, millisecond = 0 } = clock
  const cycles = Math.abs(year) <= maxYear ? 0 : Math.sign(year)
  const date = new Date(0)
  // Date.UTC() maps the years 0 to 99 to 1900 to 1999.
  date.setUTCFullYear(year - cycles * cycleYears, month - 1, day)
  return date.setUTCHours(hour, minute, second, millisecond) + cycles * cycleMilliseconds
}

export function dayOfYear(local: number): number {
  return daysOf(local) - daysOf(localOfClock({ year: clockOf(local).year })) + 1
}

/** Days since 1970. */
export function daysOf(local: number): number {
  return Math.floor(local / dayMilliseconds)
}

/** From 0, which is Sunday. */
export function weekday(local: number): number {
  // The first day of 1970 was a Thursday.
  const day = (daysOf(local) + 4) % 7
  return day < 0 ? day + 7 : day
}

/** Weeks start on Sunday; days before the first Sunday are in week 0. */
export function weekOf(local: number): number {
  return Math.floor((dayOfYear(local) + 6 - weekday(local)) / 7)
}

export interface IsoWeek {
  readonly year: number
  readonly week: number
  /** From 1, which is Monday. */
  readonly day: number
}

/** A week belongs to the year that contains its Thursday. */
export function isoWeekOf(local: number): IsoWeek {
  const day = weekday(local) || 7
  const thursday = local + (4 - day) * dayMilliseconds
  return { year: clockOf(thursday).year, week: Math.floor((dayOfYear(thursday) - 1) / 7) + 1, day }
}

export function localOfIsoWeek({ year, week, day }: IsoWeek): number {
  const fourth = localOfClock({ year, day: 4 })
  const monday = fourth - ((weekday(fourth) || 7) - 1) * dayMilliseconds
  return monday + ((week - 1) * 7 + day - 1) * dayMilliseconds
}
