/** Offsets of time zones from UTC, with one cached formatter per name for the whole process. */

interface Zone {
  readonly formatter: Intl.DateTimeFormat
  /** Cached offsets by quarter of an hour; offsets only change between quarters. */
  readonly offsets: Map<number, number>
}

const quarterMilliseconds = 900_000
/** Asking Intl takes some microseconds, and calendar operators also ask for the days around a date. */
const maxOffsets = 1000
/** Limited, because names come from pipelines: there are some hundred zones, but callers may make up spellings. */
const maxZones = 1000
const zones = new Map<string, Zone>()

const offsetPattern = /^([+-])(\d\d)(?::?(\d\d))?$/

/** Whether it is the name of a zone, or an offset from UTC. */
export function isTimeZone(timezone: string): boolean {
  return timezone === 'UTC' || offsetPattern.test(timezone) || zoneOf(timezone) !== undefined
}

/**
 * Returns the offset of a zone, given by name or as an offset, in minutes ahead of UTC. @throws TypeError for an
 * unknown zone
 */
export function offsetAt(timezone: string, date: Date): number {
  if (timezone === 'UTC') return 0
  const fixed = offsetPattern.exec(timezone)
  if (fixed !== null) return minutesOf(fixed)
  const zone = zoneOf(timezone)
  if (zone === undefined) throw new TypeError(`unknown time zone '${timezone}'`)
  const quarter = Math.floor(date.getTime() / quarterMilliseconds)
  let offset = zone.offsets.get(quarter)
  if (offset === undefined && Number.isFinite(quarter)) {
    // `GMT` alone means no offset; some historical offsets have seconds.
    const found = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(zone.formatter.format(date))
    offset = found === null ? 0 : minutesOf(found)
    if (zone.offsets.size === maxOffsets) zone.offsets.clear()
    zone.offsets.set(quarter, offset)
  }
  return offset ?? 0
}

function minutesOf([, sign, hours, minutes = '0', seconds = '0']: readonly (string | undefined)[]): number {
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes) + Number(seconds) / 60)
}

/** Returns undefined for an unknown zone. */
function zoneOf(timezone: string): Zone | undefined {
  const known = zones.get(timezone)
  if (known !== undefined) return known
  const formatter = formatterOf(timezone)
  if (formatter === undefined) return undefined
  const zone = { formatter, offsets: new Map<number, number>() }
  if (zones.size === maxZones) zones.clear()
  zones.set(timezone, zone)
  return zone
}

function formatterOf(timezone: string): Intl.DateTimeFormat | undefined {
  try {
    const timeZone = timezone === 'Z' ? 'UTC' : timezone
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset', year: 'numeric' })
  } catch {
    return undefined
  }
}
