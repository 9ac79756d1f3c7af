/** Parses dates from text: ISO 8601 and similar formats, or a given format. */
import { clockOf, instantOfLocal, localOfClock, localOfIsoWeek, monthNames } from './date-values.ts'

/** The text is not a date; `onError` applies, unlike for a malformed format. */
export class DateError extends TypeError {}

const months = monthNames.map((name) => name.toLowerCase())
/** Hours ahead of UTC. */
const zoneHours: Readonly<Record<string, number>> = {
  UTC: 0,
  GMT: 0,
  WET: 0,
  WEST: 1,
  BST: 1,
  CET: 1,
  CEST: 2,
  EET: 2,
  EEST: 3,
  MSK: 3,
  JST: 9,
  EST: -5,
  EDT: -4,
  CST: -6,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7
}
const zone = String.raw`\s*(?<zone>(?:GMT|UTC)?[+-]\d{1,2}(?::?\d\d)?|[A-Za-z]{1,4})`
const spelled = [
  String.raw`(?<year>\d{4})[-/](?<month>\d{1,2})(?:[-/](?<day>\d{1,2})`,
  String.raw`(?:[T ](?<hour>\d{1,2}):(?<minute>\d\d)(?:[:.](?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?)?)?`
].join('')
const compact = [
  String.raw`(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)`,
  String.raw`(?:T(?<hour>\d\d):?(?<minute>\d\d)(?::?(?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?)?`
].join('')
const usual = [spelled, compact].map((pattern) => new RegExp(`^${pattern}(?:${zone})?$`, 'i'))

const specifiers: Readonly<Record<string, string>> = {
  Y: String.raw`(?<year>\d{1,4})`,
  m: String.raw`(?<month>\d{1,2})`,
  b: `(?<name>${months.map((name) => name.slice(0, 3)).join('|')})`,
  B: `(?<name>${months.join('|')})`,
  d: String.raw`(?<day>\d{1,2})`,
  j: String.raw`(?<dayOfYear>\d{1,3})`,
  G: String.raw`(?<isoYear>\d{1,4})`,
  V: String.raw`(?<isoWeek>\d{1,2})`,
  u: `(?<isoDay>[1-7])`,
  H: String.raw`(?<hour>\d{1,2})`,
  M: String.raw`(?<minute>\d\d)`,
  S: String.raw`(?<second>\d\d)`,
  L: String.raw`(?<fraction>\d{1,3})`,
  z: zone,
  Z: String.raw`(?<offset>[+-]?\d+)`,
  '%': '%'
}

type Fields = Readonly<Record<string, string | undefined>>

/**
 * @param timezone for text that names none; UTC if undefined
 * @param format with specifiers; if undefined, ISO 8601, loosely
 * @throws DateError if the text is not a date; TypeError for a malformed format
 */
export function parseDate(text: string, timezone: string | undefined, format?: string): Date {
  const patterns = format === undefined ? usual : [patternOf(format)]
  const fields = patterns.map((pattern) => pattern.exec(text)?.groups).find((groups) => groups !== undefined)
  if (fields === undefined) {
    const wanted = format === undefined ? 'an ISO 8601 date' : `a date in the format '${format}'`
    throw new DateError(`'${text}' is not ${wanted}`)
  }
  const local = localOfFields(fields, text, format === undefined)
  const offset = offsetOf(fields, text)
  if (offset !== undefined && timezone !== undefined) {
    throw new DateError(`'${text}' has a time zone, but timezone is also given`)
  }
  const instant = offset === undefined ? instantOfLocal(local, timezone ?? 'UTC') : local - offset * 60_000
  return new Date(instant)
}

/** @throws TypeError for a malformed format */
export function checkFormat(format: string): void {
  patternOf(format)
}

function patternOf(format: string): RegExp {
  const pattern = format.replace(/%([\s\S]?)|[\\^$.*+?()[\]{}|/-]/g, (token: string, specifier?: string) => {
    if (specifier === undefined) return `\\${token}`
    const found = specifiers[specifier]
    if (found === undefined || !Object.hasOwn(specifiers, specifier)) {
      throw new TypeError(
        `the format '${format}' has ${specifier === '' ? 'a trailing %' : `the unknown specifier %${specifier}`}`
      )
    }
    return found
  })
  try {
    return new RegExp(`^${pattern}$`, 'i')
  } catch {
    throw new TypeError(`the format '${format}' specifies a part twice`)
  }
}

/** @param hasFirstDay whether a month without a day means its first day */
function localOfFields(fields: Fields, text: string, hasFirstDay: boolean): number {
  const time = {
    hour: partOf(fields, 'hour', 0, 23, text) ?? 0,
    minute: partOf(fields, 'minute', 0, 59, text) ?? 0,
    second: partOf(fields, 'second', 0, 59, text) ?? 0,
    millisecond: Number((fields.fraction ?? '').padEnd(3, '0').slice(0, 3))
  }
  const isoYear = partOf(fields, 'isoYear', 0, 9999, text)
  const isNatural = ['year', 'month', 'name', 'day', 'dayOfYear'].some((name) => fields[name] !== undefined)
  if (!isNatural && isoYear !== undefined) {
    const week = partOf(fields, 'isoWeek', 1, 53, text) ?? 1
    const day = partOf(fields, 'isoDay', 1, 7, text) ?? 1
    return localOfIsoWeek({ year: isoYear, week, day }) + localOfClock({ ...time, year: 1970 })
  }
  if (isoYear !== undefined || fields.isoWeek !== undefined || fields.isoDay !== undefined) {
    throw new DateError(`'${text}' mixes ISO week fields with other date fields, or has no year`)
  }
  const year = partOf(fields, 'year', 0, 9999, text)
  const dayOfYear = partOf(fields, 'dayOfYear', 1, 366, text)
  const { name } = fields
  const month =
    name === undefined
      ? partOf(fields, 'month', 1, 12, text)
      : months.findIndex((each) => each.startsWith(name.toLowerCase().slice(0, 3))) + 1
  if (year !== undefined && dayOfYear !== undefined) return localOfClock({ ...time, year, day: dayOfYear })
  const day = partOf(fields, 'day', 1, 31, text) ?? (hasFirstDay ? 1 : undefined)
  if (year === undefined || month === undefined || day === undefined) {
    throw new DateError(`'${text}' is an incomplete date`)
  }
  const local = localOfClock({ ...time, year, month, day })
  if (clockOf(local).day !== day) throw new DateError(`'${text}' has a day that does not exist in the month`)
  return local
}

function partOf(fields: Fields, name: string, least: number, most: number, text: string): number | undefined {
  const digits = fields[name]
  if (digits === undefined) return undefined
  const value = Number(digits)
  if (value >= least && value <= most) return value
  throw new DateError(`'${text}' has the invalid ${name} ${digits}`)
}

/** Returns the offset given in the text, in minutes ahead of UTC. */
function offsetOf(fields: Fields, text: string): number | undefined {
  if (fields.offset !== undefined) return Number(fields.offset)
  const name = fields.zone?.toUpperCase()
  if (name === undefined) return undefined
  const numeric = /^(?:GMT|UTC)?([+-])(\d{1,2}):?(\d\d)?$/.exec(name)
  if (numeric !== null) {
    const [, sign, hours, minutes = '0'] = numeric
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  }
  const hours = name.length === 1 ? militaryHours(name) : Object.hasOwn(zoneHours, name) ? zoneHours[name] : undefined
  if (hours === undefined) throw new DateError(`'${text}' has the unknown time zone '${name}'`)
  return hours * 60
}

/** Letters A to M without J are ahead of UTC, N to Y behind it. */
function militaryHours(letter: string): number | undefined {
  if (letter === 'Z') return 0
  const ahead = 'ABCDEFGHIKLM'.indexOf(letter)
  const behind = 'NOPQRSTUVWXY'.indexOf(letter)
  return ahead >= 0 ? ahead + 1 : behind >= 0 ? -(behind + 1) : undefined
}
