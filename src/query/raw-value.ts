/**
 * Tests one value of a JSON text in place.
 *
 * Invariants:
 * 1. Returns false only for a value that does not pass the test and is not an array.
 * 2. Never throws, whatever the text contains at the offset.
 */

const quote = 0x22
const backslash = 0x5c

/** Beginnings of wrappers whose values are certainly not strings, numbers or booleans. */
const otherWrappers = ['{"$date"', '{"$oid"']

/**
 * Objects and null never pass: REQUIRES a test that would reject them. Arrays are not examined: they may pass.
 * @param start offset of the value in a JSON text, after whitespace
 * @param hasWrappers an object may be a wrapper, of a number for example
 * @example
 * valueMayPass('{"n":12}', 5, (value) => value === 12) // true
 */
export function valueMayPass(
  text: string,
  start: number,
  test: (value: string | number | boolean) => boolean,
  hasWrappers = false
): boolean {
  switch (text.charCodeAt(start)) {
    case quote:
      return stringMayPass(text, start, test)
    case 0x5b: // [
      return true
    case 0x7b: // {
      return hasWrappers && mayBeNumberWrapper(text, start)
    case 0x6e: // null
      return false
    case 0x74: // true
      return test(true)
    case 0x66: // false
      return test(false)
    default:
      return numberMayPass(text, start, test)
  }
}

/** True for all other wrappers: their kind of value is left to the matcher. */
function mayBeNumberWrapper(text: string, start: number): boolean {
  return text.startsWith('{"$', start) && !otherWrappers.some((wrapper) => text.startsWith(wrapper, start))
}

function stringMayPass(text: string, start: number, test: (value: string) => boolean): boolean {
  const end = text.indexOf('"', start + 1)
  if (end < 0) return true
  const raw = text.slice(start + 1, end)
  if (!raw.includes('\\')) return test(raw)
  const value = unescapedString(text, start, end)
  return value === undefined || test(value)
}

/** @param end offset of the first quote that may close the string */
function unescapedString(text: string, start: number, end: number): string | undefined {
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  if (end < 0) return undefined
  try {
    return JSON.parse(text.slice(start, end + 1)) as string
  } catch {
    // A damaged record: decoding all of it will report that.
    return undefined
  }
}

/** True if an odd number of backslashes precedes the quote. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === backslash) before--
  return (at - before) % 2 === 0
}

function numberMayPass(text: string, start: number, test: (value: number) => boolean): boolean {
  let end = start
  while (isNumberUnit(text.charCodeAt(end))) end++
  // Not a number: the search found something other than a key, on which no match depends. Damage is not reported here.
  return end === start || test(Number(text.slice(start, end)))
}

/** Digits, `+`, `-`, `.`, `e`, `E`; false beyond the end of the text. */
function isNumberUnit(unit: number): boolean {
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x2e || unit === 0x2d || unit === 0x2b || (unit | 0x20) === 0x65
}
