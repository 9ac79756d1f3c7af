/** `$dateToString` and `$dateFromString`. */
import { isNil } from '../expression-values.ts'
import { checkFormat, DateError, parseDate } from './date-parsing.ts'
import {
  clockOf,
  dayOfYear,
  instantOf,
  isoWeekOf,
  isUtc,
  monthNames,
  offsetOf,
  weekday,
  weekOf,
  zoneOf
} from './date-values.ts'
import { describe, fieldsOf, named, type Operators, stringOf } from './operator.ts'

const localFormat = '%Y-%m-%dT%H:%M:%S.%L'

export const dateTextOperators: Operators = {
  $dateToString: named(['date'], ['format', 'timezone', 'onNull'], (values, name) => {
    const { date, format, onNull = Object.hasOwn(values, 'onNull') ? undefined : null } = values
    const zone = zoneOf(values, name)
    const spelling = isNil(format) ? undefined : stringOf(format, `${name}: format`)
    if (isNil(date)) {
      // Even without a date, the other arguments must be valid.
      formatted(0, zone ?? 'UTC', spelling ?? '', name)
      return onNull
    }
    if (zone === null || (Object.hasOwn(values, 'format') && isNil(format))) return null
    return formatted(instantOf(date, name), zone, spelling ?? (isUtc(zone) ? `${localFormat}Z` : localFormat), name)
  }),
  $dateFromString: (argument, compiler, name) => {
    const options = ['format', 'timezone', 'onError', 'onNull']
    const { onError, onNull = null, ...fields } = fieldsOf(argument, name, ['dateString'], options)
    const otherwise = onError === undefined ? undefined : compiler.compile(onError)
    const none = compiler.compile(onNull)
    const read = named(['dateString'], ['format', 'timezone'], (values) => {
      const { dateString, format } = values
      const zone = zoneOf(values, name)
      const spelling = isNil(format) ? undefined : stringOf(format, `${name}: format`)
      // Whatever the date, the format must be valid. Parsing a text checks it.
      if (typeof dateString !== 'string' || zone === null) naming(name, () => checkFormat(spelling ?? ''))
      if (isNil(dateString)) return undefined
      if (typeof dateString !== 'string') {
        throw new DateError(`${name}: dateString takes a string, got ${describe(dateString)}`)
      }
      if (zone === null || (Object.hasOwn(values, 'format') && isNil(format))) return null
      return naming(name, () => parseDate(dateString, isUtc(zone) ? undefined : zone, spelling))
    })(fields, compiler, name)
    return (document) => {
      try {
        const date = read(document)
        return date === undefined ? none(document) : date
      } catch (error) {
        if (otherwise === undefined || !(error instanceof DateError)) throw error
        return otherwise(document)
      }
    }
  }
}

/** Adds the operator to errors of the parser. */
function naming<T>(name: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    const message = `${name}: ${(error as Error).message}`
    throw error instanceof DateError ? new DateError(message) : new TypeError(message)
  }
}

function formatted(instant: number, zone: string, format: string, name: string): string {
  const offset = offsetOf(instant, zone)
  const local = instant + offset
  const clock = clockOf(local)
  const iso = isoWeekOf(local)
  return format.replace(/%([\s\S]?)/g, (_token, specifier: string) => {
    switch (specifier) {
      case 'Y':
        return year(clock.year, name)
      case 'G':
        return year(iso.year, name)
      case 'm':
        return padded(clock.month, 2)
      case 'b':
        return (monthNames[clock.month - 1] as string).slice(0, 3)
      case 'B':
        return monthNames[clock.month - 1] as string
      case 'd':
        return padded(clock.day, 2)
      case 'j':
        return padded(dayOfYear(local), 3)
      case 'H':
        return padded(clock.hour, 2)
      case 'M':
        return padded(clock.minute, 2)
      case 'S':
        return padded(clock.second, 2)
      case 'L':
        return padded(clock.millisecond, 3)
      case 'w':
        return String(weekday(local) + 1)
      case 'U':
        return padded(weekOf(local), 2)
      case 'u':
        return String(iso.day)
      case 'V':
        return padded(iso.week, 2)
      case 'z':
        return offsetText(offset / 60_000)
      case 'Z':
        return String(Math.trunc(offset / 60_000))
      case '%':
        return '%'
    }
    throw new TypeError(
      `${name}: the format '${format}' has ${specifier === '' ? 'a trailing %' : `the unknown specifier %${specifier}`}`
    )
  })
}

function year(value: number, name: string): string {
  if (value >= 0 && value <= 9999) return padded(value, 4)
  throw new TypeError(`${name} takes years from 0 to 9999, got ${value}`)
}

function padded(value: number, length: number): string {
  return String(value).padStart(length, '0')
}

function offsetText(minutes: number): string {
  const distance = Math.trunc(Math.abs(minutes))
  return `${minutes < 0 ? '-' : '+'}${padded(Math.floor(distance / 60), 2)}${padded(distance % 60, 2)}`
}
