/** How far time zones are from UTC: each name has one formatter for the whole process. */

interface Zone {
  readonly formatter: Intl.DateTimeFormat
  /** Offsets of quarters of an hour that were asked for: they change at the end of one. */
  readonly offsets: Map<number, number>
}

const quarterMilliseconds = 900_000
/** Asking Intl takes some microseconds, and a calendar operator asks for the days around its date, too. */
const maxOffsets = 1000
/** Names come from pipelines: there are some hundred, and callers may make up spellings. */
const maxZones = 1000
const zones = new Map<string, Zone>()

/** Minutes, not always whole ones, that a zone, by name or as an offset, is ahead of UTC at a time. @throws TypeError for a zone that is unknown */
export function offsetAt(timezone: string, date: Date): number {
  if (timezone === 'UTC') return 0
  const fixed = /^([+-])(\d\d)(?::?(\d\d))?$/.exec(timezone)
  if (fixed !== null) return minutesOf(fixed)
  const zone = zoneOf(timezone)
  const quarter = Math.floor(date.getTime() / quarterMilliseconds)
  let offset = zone.offsets.get(quarter)
  if (offset === undefined && Number.isFinite(quarter)) {
    // `GMT` alone is no offset; some of the past have seconds.
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

function zoneOf(timezone: string): Zone {
  const known = zones.get(timezone)
  if (known !== undefined) return known
  const zone = { formatter: formatterOf(timezone), offsets: new Map<number, number>() }
  if (zones.size === maxZones) zones.clear()
  zones.set(timezone, zone)
  return zone
}

function formatterOf(timezone: string): Intl.DateTimeFormat {
  try {
    const timeZone = timezone === 'Z' ? 'UTC' : timezone
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset', year: 'numeric' })
  } catch {
    throw new TypeError(`the time zone '${timezone}' is not known`)
  }
}
