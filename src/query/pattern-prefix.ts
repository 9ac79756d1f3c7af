/**
 * Finds the literal text that every string matching a pattern begins with, as a range of strings.
 *
 * Invariants:
 * 1. Every string that the pattern matches is within the range.
 * 2. If `isWhole`, every string within the range matches.
 */
import type { Range } from '../model/pairs.ts'
import type { Pattern } from './pattern.ts'

export interface PatternPrefix {
  readonly ends: Pick<Range, 'low' | 'high'>
  readonly isWhole: boolean
}

/** Characters with a special meaning. */
const special = new Set('\\^$.*+?()[]{}|')
const highestCode = 0x10ffff

/**
 * @returns undefined for a pattern that is not anchored at the start, ignores case, or does not begin with a literal
 * @example
 * prefixOf(patternOf(/^ab.c/, place))?.ends.high // { key: 'ac', isInclusive: false }
 */
export function prefixOf({ expression }: Pattern): PatternPrefix | undefined {
  const { source, ignoreCase, multiline, flags } = expression
  // An alternative may begin differently; if the bar is a literal character, a prefix is missed.
  if (!source.startsWith('^') || ignoreCase || multiline || flags.includes('v') || source.includes('|'))
    return undefined
  const { text, isWhole } = readLiteral(source)
  const kept = withoutSurrogateEnd(text)
  const next = successor(kept)
  if (next === undefined) return undefined
  return {
    ends: { low: { key: kept, isInclusive: true }, high: { key: next, isInclusive: false } },
    isWhole: isWhole && kept === text
  }
}

function readLiteral(source: string): { readonly text: string; readonly isWhole: boolean } {
  let text = ''
  for (let i = 1; i < source.length; i++) {
    const character = source[i]!
    const escaped = character === '\\' ? source[i + 1] : undefined
    if (escaped !== undefined && (special.has(escaped) || escaped === '/')) {
      text += escaped
      i++
    } else if (special.has(character)) {
      // An optional character is not part of the prefix.
      const isOptional = character === '*' || character === '?' || character === '{'
      return { text: isOptional ? withoutLast(text) : text, isWhole: false }
    } else text += character
  }
  return { text, isWhole: true }
}

/** Removes both units of a surrogate pair, since a quantifier may apply to either or both. */
function withoutLast(text: string): string {
  return withoutSurrogateEnd(text.slice(0, -1))
}

/** Removes a trailing high surrogate: a string may continue it with another low one, to a different code point. */
function withoutSurrogateEnd(text: string): string {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last < 0xdc00 ? text.slice(0, -1) : text
}

/** The smallest string, by code point, above all strings that begin with `prefix`. */
function successor(prefix: string): string | undefined {
  const last = [...prefix].at(-1)
  const code = last?.codePointAt(0)
  if (last === undefined || code === undefined || code === highestCode) return undefined
  return prefix.slice(0, -last.length) + String.fromCodePoint(code + 1)
}
