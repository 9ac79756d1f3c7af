/**
 * Reads the wrappers of Extended JSON for ObjectIds and dates, as in mongoexport's output and our own records, without
 * whitespace. Rejects all others, and dates whose text is not a day of the calendar.
 */
import { DATE_START, isObjectId, LONG_END, LONG_START, OBJECT_ID_START, OBJECT_ID_TYPE } from './document'
import { QUOTE } from './json-text'
import { addFact } from './pairs'
import { scanText } from './text'
import { addDate } from './values'

const MAX_TIME_DIGITS: u32 = 16
const MAX_TIME: i64 = 8640000000000000
const DAY: i64 = 86400000
/** Returned for anything but two digits. */
const NO_NUMBER: u32 = 1000

let isMet: bool = false

export function beginWrappers(): void {
  isMet = false
}

/** Whether the last document had any wrappers. */
export function hasWrappers(): bool {
  return isMet
}

/** Reads the wrapper at `p` as the node's value. @returns the address after it, or 0 */
export function scanWrapper(p: usize, node: usize): usize {
  isMet = true
  const start = load<u64>(p)
  if (start == OBJECT_ID_START) {
    if (load<u8>(p, 8) != QUOTE || !isObjectId(p + 9)) return 0
    addFact(node, OBJECT_ID_TYPE)
    const end = scanText(p + 9, node, OBJECT_ID_TYPE)
    return load<u8>(end) == 0x7d ? end + 1 : 0
  }
  if (start != DATE_START || load<u8>(p, 8) != 0x3a) return 0
  return load<u8>(p, 9) == QUOTE ? scanIsoTime(p + 10, node) : scanTime(p + 9, node)
}

/** Reads `{"$numberLong":"…"}}`. */
function scanTime(start: usize, node: usize): usize {
  if (load<u64>(start) != LONG_START || load<u64>(start, 8) != LONG_END) return 0
  const isNegative = load<u8>(start, 16) == 0x2d
  let p = start + 16 + <usize>isNegative
  let time: i64 = 0
  let count: u32 = 0
  for (; count <= MAX_TIME_DIGITS; count++) {
    const digit = <u32>load<u8>(p) - 0x30
    if (digit > 9) break
    time = time * 10 + <i64>digit
    p++
  }
  if (count == 0 || time > MAX_TIME || load<u16>(p) != 0x7d22 || load<u8>(p, 2) != 0x7d) return 0
  addDate(node, <f64>(isNegative ? -time : time))
  return p + 3
}

/** Reads `YYYY-MM-DDTHH:MM:SSZ`, optionally with `.mmm`, and the `"}` after it. */
function scanIsoTime(p: usize, node: usize): usize {
  const century = twoDigits(p)
  const rest = twoDigits(p + 2)
  const month = twoDigits(p + 5)
  const day = twoDigits(p + 8)
  const hours = twoDigits(p + 11)
  const minutes = twoDigits(p + 14)
  const seconds = twoDigits(p + 17)
  if (max(century, rest) > 99 || month - 1 > 11 || hours > 23 || minutes > 59 || seconds > 59) return 0
  const year = century * 100 + rest
  if (day - 1 >= daysOfMonth(year, month)) return 0
  const areSeparated =
    load<u8>(p, 4) == 0x2d && load<u8>(p, 7) == 0x2d && load<u8>(p, 10) == 0x54 &&
    load<u8>(p, 13) == 0x3a && load<u8>(p, 16) == 0x3a
  if (!areSeparated) return 0
  let end = p + 19
  let milliseconds: u32 = 0
  if (load<u8>(end) == 0x2e) {
    const tens = twoDigits(end + 1)
    const units = <u32>load<u8>(end, 3) - 0x30
    if (tens > 99 || units > 9) return 0
    milliseconds = tens * 10 + units
    end += 4
  }
  // Z"}
  if (load<u16>(end) != 0x225a || load<u8>(end, 2) != 0x7d) return 0
  const time = <i64>(((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds)
  addDate(node, <f64>(daysSinceEpoch(year, month, day) * DAY + time))
  return end + 3
}

// @ts-ignore: decorator
@inline
function twoDigits(p: usize): u32 {
  const tens = <u32>load<u8>(p) - 0x30
  const units = <u32>load<u8>(p, 1) - 0x30
  return max(tens, units) > 9 ? NO_NUMBER : tens * 10 + units
}

function daysOfMonth(year: u32, month: u32): u32 {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
  return 30 + ((month + (month >>> 3)) & 1)
}

/** In the proleptic Gregorian calendar. Years begin in March here, so that leap days come last. */
function daysSinceEpoch(year: u32, month: u32, day: u32): i64 {
  // Shifted by 400 years, which are 146,097 days.
  const marchYear = year + 400 - <u32>(month <= 2)
  const monthFromMarch = (month + 9) % 12
  const days = 365 * marchYear + marchYear / 4 - marchYear / 100 + marchYear / 400 + (153 * monthFromMarch + 2) / 5 + day
  return <i64>days - 719469 - 146097
}
