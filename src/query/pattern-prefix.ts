/**
 * The literal text that every string matching a pattern begins with, as a range of strings.
 *
 * Invariants:
 * 1. A string that the pattern matches lies within the range.
 * 2. `isWhole`: every string within the range matches.
 */
import type { Range } from '../model/pairs.ts'
import type { Pattern } from './pattern.ts'

export interface PatternPrefix {
  readonly ends: Pick<Range, 'low' | 'high'>
  readonly isWhole: boolean
}

/** Characters that mean more than themselves. */
const special = new Set('\\^$.*+?()[]{}|')
const highestCode = 0x10ffff

/**
 * @returns undefined for a pattern that is not anchored to the start, ignores case, or begins with no literal
 * @example
 * prefixOf(patternOf(/^ab.c/, place))?.ends.high // { key: 'ac', isInclusive: false }
 */
export function prefixOf({ expression }: Pattern): PatternPrefix | undefined {
  const { source, ignoreCase, multiline, flags } = expression
  // An alternative may begin otherwise; where the bar is only a character, a prefix is missed.
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
      // What may be repeated no time at all is no part of the prefix.
      const isOptional = character === '*' || character === '?' || character === '{'
      return { text: isOptional ? withoutLast(text) : text, isWhole: false }
    } else text += character
  }
  return { text, isWhole: true }
}

/** Of two units, one may be what a quantifier speaks of, or both. */
function withoutLast(text: string): string {
  return withoutSurrogateEnd(text.slice(0, -1))
}

/** A string may continue half a pair, and then its code point is another one. */
function withoutSurrogateEnd(text: string): string {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last < 0xdc00 ? text.slice(0, -1) : text
}

/** The smallest string, by code point, above all that begin with `prefix`. */
function successor(prefix: string): string | undefined {
  const last = [...prefix].at(-1)
  const code = last?.codePointAt(0)
  if (last === undefined || code === undefined || code === highestCode) return undefined
  return prefix.slice(0, -last.length) + String.fromCodePoint(code + 1)
}
