/**
 * One value of a JSON text, judged where it stands.
 *
 * Invariants:
 * 1. false only for a value that does not pass the test, and is no array.
 * 2. Whatever the text holds at the offset, nothing is thrown.
 */

const quote = 0x22
const backslash = 0x5c

/** How wrappers begin whose values are certain to be no strings, numbers or booleans. */
const otherWrappers = ['{"$date"', '{"$oid"']

/**
 * Objects and null never pass: REQUIRES a test that says so. Arrays are not looked into: they may pass.
 * @param start offset of the value in a JSON text, behind white space
 * @param hasWrappers an object may be one, of a number for example
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
      return hasWrappers && mayBeOfNumber(text, start)
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

/** True for every wrapper but those: which kind of value it has is left to the matcher. */
function mayBeOfNumber(text: string, start: number): boolean {
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
    // A damaged record: whoever decodes all of it will say so.
    return undefined
  }
}

/** True when an odd number of backslashes stands before the quote. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === backslash) before--
  return (at - before) % 2 === 0
}

function numberMayPass(text: string, start: number, test: (value: number) => boolean): boolean {
  let end = start
  while (isNumberUnit(text.charCodeAt(end))) end++
  // Nothing of a number: the search met something else than a key. No match hangs on it, and damage is not judged here.
  return end === start || test(Number(text.slice(start, end)))
}

/** Digits, `+`, `-`, `.`, `e`, `E`; false beyond the end of the text. */
function isNumberUnit(unit: number): boolean {
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x2e || unit === 0x2d || unit === 0x2b || (unit | 0x20) === 0x65
}
