/**
 * Pure policy: chooses the part of a column's texts that becomes keys, from a sample of them.
 *
 * What all texts have in common carries no information. If the rest is digits between separators, as in ISO dates, a
 * template has room for twice as many characters as a key has bytes, including some that the sample has in common: the
 * year may change within the next segment.
 */
import { maxPrefix } from './column-spec.ts'
import { anyDigit, keyBytes, type TextForm, templateRoom } from './range-key.ts'

/** Characters of growing texts' common prefix that may change in the next segment: the day of a month, for example. */
const prefixSlack = 3
/** Characters after the sampled texts' common prefix that suffice to tell a segment's documents apart. */
const tellingCharacters = 8
/** Maximum length of a template, which has to fit into a key, plus a prefix. */
const maxTemplate = 2 * maxPrefix

/**
 * @param texts in document order, at least one
 * @param isGrowing each text is at or above the one before
 * @param isNearlyGrowing they grow, or nearly
 */
export function chooseTextForm(texts: readonly string[], isGrowing: boolean, isNearlyGrowing: boolean): TextForm {
  const common = commonPrefix(isGrowing ? [texts[0]!, texts.at(-1)!] : texts)
  const longest = isNearlyGrowing ? Math.max(0, common.length - prefixSlack) : common.length
  const pattern = patternOf(texts)
  const enough = Math.min(pattern.length, common.length + tellingCharacters)
  let from = 0
  while (from < longest && from + templateRoom(pattern, from) < enough) from++
  const end = from + templateRoom(pattern, from)
  // Bytes discriminate at least as well: where a letter may change, a template has one key for all texts beyond the
  // change.
  const areMore = end < Math.min(longest + keyBytes, longestOf(texts))
  if (areMore || hasCountingLetter(pattern, longest, common.length))
    return { prefix: common.slice(0, longest), template: '' }
  return { prefix: common.slice(0, from), template: pattern.slice(from, end) }
}

/** The longest common ASCII prefix, up to `maxPrefix` characters. */
function commonPrefix(texts: Iterable<string>): string {
  let prefix: string | undefined
  for (const text of texts) {
    prefix ??= /^[\0-\x7f]*/.exec(text.slice(0, maxPrefix))![0]
    let length = 0
    while (length < prefix.length && prefix[length] === text[length]) length++
    prefix = prefix.slice(0, length)
  }
  return prefix ?? ''
}

/**
 * The longest pattern that all texts begin with: characters equal in all of them, and `anyDigit` where all have digits.
 */
function patternOf(texts: readonly string[]): string {
  let pattern = patternOfText(texts[0]!)
  for (const text of texts) {
    let length = 0
    while (length < pattern.length && length < text.length && fits(pattern[length]!, text[length]!)) length++
    pattern = pattern.slice(0, length)
  }
  return pattern
}

function patternOfText(text: string): string {
  return /^[\0-\x7f]*/.exec(text.slice(0, maxTemplate))![0].replace(/[0-9]/g, anyDigit)
}

function fits(expected: string, character: string): boolean {
  return expected === anyDigit ? character >= '0' && character <= '9' : character === expected
}

/** True if a letter is not between two digits: it may count, as in A9, B0. The T of ISO dates only separates. */
function hasCountingLetter(pattern: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const isBetweenDigits = pattern[i - 1] === anyDigit && pattern[i + 1] === anyDigit
    if (/[a-z]/i.test(pattern[i] ?? '') && !isBetweenDigits) return true
  }
  return false
}

function longestOf(texts: readonly string[]): number {
  return texts.reduce((length, text) => Math.max(length, text.length), 0)
}
