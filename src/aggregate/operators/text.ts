/** String operators: positions and lengths count code points, or UTF-8 bytes where the name says so. */
import type { Code, Timestamp } from 'bson'
import { compareStrings } from '../../model/compare.ts'
import { toDouble } from '../../model/numbers.ts'
import { type Numeric, Type, typeOf } from '../../model/types.ts'
import { isNil } from '../expression-values.ts'
import { isoText, monthNames } from './date-values.ts'
import { numberText } from './number-text.ts'
import { describe, integerOf, isNumber, named, nary, numberOf, type Operators, stringOf, unary } from './operator.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const beyondAscii = /[^\0-\x7f]/
const any = Number.POSITIVE_INFINITY
/** Characters that trimming removes by default. */
const spaces = '\0\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a'

const substrBytes = nary(3, 3, ([text, from, length], name) => {
  const whole = textOf(text, name)
  const [start, count] = [wholePart(from, `${name}: position`), wholePart(length, `${name}: length`)]
  if (start < 0) throw new TypeError(`${name}: position takes a number ≥ 0, got ${start}`)
  // Encoding takes several times as long.
  if (!beyondAscii.test(whole)) return whole.slice(start, count < 0 ? undefined : start + count)
  const bytes = encoder.encode(whole)
  const end = count < 0 ? bytes.length : start + count
  if (isWithinCharacter(bytes, start) || isWithinCharacter(bytes, end)) {
    throw new TypeError(`${name} would begin or end within a character`)
  }
  return decoder.decode(bytes.subarray(start, end))
})

export const textOperators: Operators = {
  $concat: nary(0, any, (values, name) => {
    let text = ''
    for (const value of values) {
      // Arguments after a null or missing one are not examined.
      if (isNil(value)) return null
      text += stringOf(value, name)
    }
    return text
  }),
  $toLower: unary((value, name) => textOf(value, name).toLowerCase()),
  $toUpper: unary((value, name) => textOf(value, name).toUpperCase()),
  $strcasecmp: nary(2, 2, (values, name) => {
    const [a, b] = values.map((value) => textOf(value, name).toUpperCase()) as [string, string]
    return Math.sign(compareStrings(a, b))
  }),
  $strLenBytes: unary((value, name) => encoder.encode(stringOf(value, name)).length),
  $strLenCP: unary((value, name) => lengthOf(stringOf(value, name))),
  $substr: substrBytes,
  $substrBytes: substrBytes,
  $substrCP: nary(3, 3, ([text, from, length], name) => {
    const [start, count] = [integerOf(from, `${name}: position`, 0), integerOf(length, `${name}: length`, 0)]
    return [...textOf(text, name)].slice(start, start + count).join('')
  }),
  $indexOfBytes: nary(2, 4, (values, name) => indexWithin(values, name, bytesOf, lastThatEnds)),
  $indexOfCP: nary(2, 4, (values, name) => indexWithin(values, name, pointsOf, lastThatBegins)),
  $split: nary(2, 2, ([text, separator], name) => {
    if (isNil(text) || isNil(separator)) return null
    const [whole, by] = [stringOf(text, name), stringOf(separator, name)]
    if (by === '') throw new TypeError(`${name} takes a non-empty separator`)
    return whole.split(by)
  }),
  $replaceOne: named(['input', 'find', 'replacement'], [], (values, name) => {
    const parts = replacing(values, name)
    if (parts === null) return null
    const [input, find, replacement] = parts
    // A function, so that `$&` in the replacement is literal.
    return input.replace(find, () => replacement)
  }),
  $replaceAll: named(['input', 'find', 'replacement'], [], (values, name) => {
    const parts = replacing(values, name)
    if (parts === null) return null
    const [input, find, replacement] = parts
    if (find !== '') return input.replaceAll(find, () => replacement)
    return `${replacement}${[...input].map((point) => point + replacement).join('')}`
  }),
  $trim: trimming(true, true),
  $ltrim: trimming(true, false),
  $rtrim: trimming(false, true)
}

/** Whether the byte at a position of UTF-8 continues a character. */
function isWithinCharacter(bytes: Uint8Array, at: number): boolean {
  return at < bytes.length && (bytes[at]! & 0xc0) === 0x80
}

/** Drops the fraction of a number of any size. */
function wholePart(value: unknown, what: string): number {
  const number = Math.trunc(toDouble(numberOf(value, what) as Numeric))
  if (!Number.isNaN(number)) return number
  throw new TypeError(`${what} takes a number, got NaN`)
}

/** Converts a value to a string where a string is expected; null and missing become the empty string. */
function textOf(value: unknown, name: string): string {
  if (isNil(value)) return ''
  if (value instanceof Date) return isoText(value, name)
  if (isNumber(value)) return numberText(value)
  switch (typeOf(value)) {
    case Type.string:
      return String(value)
    case Type.timestamp:
      return timestampText(value as Timestamp)
    case Type.javascript: {
      const { code, scope } = value as Code
      if (isNil(scope)) return String(code)
    }
  }
  throw new TypeError(`${name} takes a string, a number or a date, got ${describe(value)}`)
}

/** As MongoDB spells it, but in UTC instead of the server's local time: `Jan  1 00:00:10:3`. */
function timestampText({ t, i }: Timestamp): string {
  const at = new Date(t * 1000)
  const month = (monthNames[at.getUTCMonth()] as string).slice(0, 3)
  return `${month} ${String(at.getUTCDate()).padStart(2)} ${at.toISOString().slice(11, 19)}:${i}`
}

export function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

/**
 * @param unitsOf splits text into the units that positions count
 * @param lastOf the last position at which text of `length` may be found before `end`, in text of `total` units
 * @returns -1 if the text is not found
 */
function indexWithin(
  [text, wanted, ...bounds]: readonly unknown[],
  name: string,
  unitsOf: (text: string) => ArrayLike<unknown>,
  lastOf: (end: number, length: number, total: number) => number
): number | null {
  if (isNil(text)) return null
  const [units, part] = [unitsOf(stringOf(text, name)), unitsOf(stringOf(wanted, name))]
  const [from = 0, to = units.length] = bounds.map((bound) => integerOf(bound, `${name}: position`, 0))
  const last = lastOf(Math.min(to, units.length), part.length, units.length)
  for (let at = from; at <= last; at++) if (isAt(units, part, at)) return at
  return -1
}

function bytesOf(text: string): Uint8Array {
  return encoder.encode(text)
}

function pointsOf(text: string): string[] {
  return [...text]
}

/** As in MongoDB, text found by `$indexOfBytes` ends by `end`. */
function lastThatEnds(end: number, length: number): number {
  return end - length
}

/** Text found by `$indexOfCP` only begins before `end`; in the empty text, the empty text is found all the same. */
function lastThatBegins(end: number, _: number, total: number): number {
  return total === 0 ? 0 : end - 1
}

function isAt(units: ArrayLike<unknown>, part: ArrayLike<unknown>, at: number): boolean {
  for (let i = 0; i < part.length; i++) if (units[at + i] !== part[i]) return false
  return true
}

function replacing(
  { input, find, replacement }: Record<string, unknown>,
  name: string
): [string, string, string] | null {
  const entries = Object.entries({ input, find, replacement })
  const parts = entries.map(([key, value]) => (isNil(value) ? null : stringOf(value, `${name}: ${key}`)))
  return parts.includes(null) ? null : (parts as [string, string, string])
}

function trimming(atStart: boolean, atEnd: boolean): Operators[string] {
  return named(['input'], ['chars'], (values, name) => {
    const { input, chars = null } = values
    if (isNil(input)) return null
    const points = [...stringOf(input, `${name}: input`)]
    if (chars === null && Object.hasOwn(values, 'chars')) return null
    const removed = new Set(chars === null ? spaces : stringOf(chars, `${name}: chars`))
    let [from, to] = [0, points.length]
    while (atStart && from < to && removed.has(points[from] as string)) from++
    while (atEnd && to > from && removed.has(points[to - 1] as string)) to--
    return points.slice(from, to).join('')
  })
}
