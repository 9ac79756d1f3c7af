/**
 * Keeps integers beyond 2^53 exact through JSON.parse, which rounds them: each is rewritten as its Extended JSON
 * wrapper before parsing.
 *
 * Tweet ids are such integers, so this is common; the text is scanned by indexOf and one regular expression, and
 * copied once, whatever its size.
 */

/**
 * An integer of 16 digits or more in a place where a number may occur. A leading zero is a syntax error and left to
 * JSON.parse; fractions and exponents are doubles.
 */
const longInteger = /(?:^|[:,[\s])-?[1-9]\d{15,}(?![\d.eE])/
const longIntegers = new RegExp(longInteger, 'g')

const maxExact = 2n ** 53n

/** False for nearly every text without integers to rewrite; the match may still be inside a string. */
export function mayHoldLongIntegers(text: string): boolean {
  return longInteger.test(text)
}

/** Returns the same text if there is nothing to rewrite. Integers that do not fit 64 bits stay as they are. */
export function wrapLongIntegers(text: string): string {
  const parts: string[] = []
  let copied = 0
  // Always outside of strings.
  let at = 0
  let nextQuote = quoteFrom(text, 0)
  for (;;) {
    longIntegers.lastIndex = at
    const match = longIntegers.exec(text)
    if (match === null) break
    while (nextQuote < match.index) {
      at = endOfString(text, nextQuote)
      nextQuote = quoteFrom(text, at)
    }
    // Inside a string: continue the search after it.
    if (at > match.index) continue
    at = match.index + match[0].length
    const start = /\d/.test(match[0].charAt(0)) || match[0].startsWith('-') ? match.index : match.index + 1
    const digits = text.slice(start, at)
    if (!isKept(BigInt(digits))) continue
    parts.push(text.slice(copied, start), `{"$numberLong":"${digits}"}`)
    copied = at
  }
  if (parts.length === 0) return text
  parts.push(text.slice(copied))
  return parts.join('')
}

function isKept(value: bigint): boolean {
  return (value > maxExact || value < -maxExact) && BigInt.asIntN(64, value) === value
}

/** Offset of the next quotation mark; the text's length if there is none. */
function quoteFrom(text: string, from: number): number {
  const quote = text.indexOf('"', from)
  return quote < 0 ? text.length : quote
}

/** Offset after the string that opens at `open`. */
function endOfString(text: string, open: number): number {
  let close = quoteFrom(text, open + 1)
  while (close < text.length && isEscaped(text, close)) close = quoteFrom(text, close + 1)
  return close + 1
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++
  return backslashes % 2 === 1
}
