/**
 * Pure policy: which part of a column's texts is made into keys, from a sample of them.
 *
 * What all have in common tells nothing. Where the rest is digits between separators, as in ISO dates, a template has room
 * for twice as many characters as there are bytes in a key, and for some that the sample has in common, too: the year may
 * change within the segment to come.
 */
import { maxPrefix } from './column-spec.ts'
import { anyDigit, keyBytes, type TextForm, templateRoom } from './range-key.ts'

/** Characters of what growing texts have in common that may change in the segment to come: the days of a month, say. */
const prefixSlack = 3
/** Characters behind what the sampled texts have in common that tell any documents of a segment apart. */
const tellingCharacters = 8
/** A template's characters are no more than fit into a key, and a prefix may stand before them. */
const maxTemplate = 2 * maxPrefix

/**
 * @param texts in the order of documents, one at least
 * @param isGrowing each text is the one before or above it
 * @param doGrow they are growing, but for some disorder at most
 */
export function chooseTextForm(texts: readonly string[], isGrowing: boolean, doGrow: boolean): TextForm {
  const common = commonPrefix(isGrowing ? [texts[0]!, texts.at(-1)!] : texts)
  const longest = doGrow ? Math.max(0, common.length - prefixSlack) : common.length
  const pattern = patternOf(texts)
  const enough = Math.min(pattern.length, common.length + tellingCharacters)
  let from = 0
  while (from < longest && from + templateRoom(pattern, from) < enough) from++
  const end = from + templateRoom(pattern, from)
  // Bytes tell as much, or more: where a letter may yet change, a template has one key for all texts behind that.
  const areMore = end < Math.min(longest + keyBytes, longestOf(texts))
  if (areMore || hasCountingLetter(pattern, longest, common.length))
    return { prefix: common.slice(0, longest), template: '' }
  return { prefix: common.slice(0, from), template: pattern.slice(from, end) }
}

/** ASCII only. */
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

/** Of the characters that all texts begin with, those that are equal, and for others that are digits in all `anyDigit`. */
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

/** A letter that stands between two digits, as the T of ISO dates does, separates them; another one may count, as in A9, B0. */
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
