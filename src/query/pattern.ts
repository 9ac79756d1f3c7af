/**
 * Regular expressions of a filter, run by JavaScript's engine.
 *
 * A RegExp has its JavaScript meaning. A pattern that is a string, or a BSONRegExp, is interpreted like MongoDB's PCRE
 * as far as JavaScript can: by code points, with leading inline flags `(?i)` and extended syntax (`x`). Syntax that
 * JavaScript would misinterpret is rejected; the remaining differences are listed in docs/query-semantics.md.
 */
import { compareStrings } from '../model/compare.ts'
import { PetalError } from '../model/errors.ts'
import { regexParts } from '../model/scalar.ts'
import { isRegExp } from '../model/types.ts'
import { type FilterPlace, filterError } from './errors.ts'

export interface Pattern {
  /** Without `g` and `y`, so that tests are stateless. */
  readonly expression: RegExp
  /** Source and flags that a stored regular expression must have to match as a value. */
  readonly source: string
  readonly flags: string
}

export type StoredRegex = RegExp | { readonly pattern: string; readonly options: string }

/** Returns the pattern of a RegExp or BSONRegExp. */
export function patternOf(value: StoredRegex, place: FilterPlace): Pattern {
  const { source, flags } = regexParts(value)
  if (!isRegExp(value)) return create(source, flags, place, compileByCodePoints)
  return { expression: new RegExp(value.source, value.flags.replace(/[gyd]/g, '')), source, flags }
}

/** Returns the pattern of a RegExp or BSONRegExp without flags, with separate options. @throws as createPattern() */
export function patternWith(value: StoredRegex, options: string, place: FilterPlace): Pattern {
  const compile: Compile = isRegExp(value) ? (source, flags) => new RegExp(source, flags) : compileByCodePoints
  return create(regexParts(value).source, options, place, compile)
}

/**
 * Returns the pattern of a string.
 * @param options any of `imsxu`
 * @throws PetalError BadValue for an unknown option, a pattern that does not compile, and PCRE syntax that JavaScript
 *   lacks
 */
export function createPattern(source: string, options: string, place: FilterPlace): Pattern {
  return create(source, options, place, compileByCodePoints)
}

/** @throws SyntaxError, and PetalError with the place */
type Compile = (source: string, flags: string, place: FilterPlace) => RegExp

function create(source: string, options: string, place: FilterPlace, compile: Compile): Pattern {
  const unknownOption = /[^imsxu]/.exec(options)
  if (unknownOption !== null) throw filterError('BadValue', place, `invalid regex option '${unknownOption[0]}'`)
  if (source.includes('\0')) throw filterError('BadValue', place, 'a regular expression cannot contain a null byte')
  const flags = [...new Set(options)].sort(compareStrings).join('')
  const inline = /^\(\?([imsx]+)\)/.exec(source)
  const effective = new Set(flags + (inline?.[1] ?? ''))
  const body = inline === null ? source : source.slice(inline[0].length)
  const isExtended = effective.delete('x')
  try {
    const expression = compile(isExtended ? withoutComments(body) : body, [...effective].join(''), place)
    return { expression, source, flags }
  } catch (error) {
    if (error instanceof PetalError) throw error
    throw filterError('BadValue', place, `invalid regular expression /${source}/${flags}`, error)
  }
}

/** Removes extended syntax: whitespace and `#` comments outside classes, unless escaped. */
function withoutComments(source: string): string {
  return source.replace(/\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|\s+|#[^\n]*/g, (token) =>
    token.startsWith('\\') || token.startsWith('[') ? token : ''
  )
}

/** Escapes, each as one token so that an escaped backslash does not begin another, and POSIX classes. */
const tokens = /\\(?:[xk]\{|k'|[\s\S])|\[:\^?\w+:\]/g
/** Letters whose escapes PCRE and JavaScript interpret alike; any other escaped letter is a literal to JavaScript. */
const sharedLetters = new Set('bBcdDfknpPrsStuvwWx')

/**
 * Compiles by code points, like PCRE, or by UTF-16 units if only these work, for example because of a literal brace.
 */
function compileByCodePoints(source: string, flags: string, place: FilterPlace): RegExp {
  const escapes = Array.from(source.matchAll(tokens), ([token]) => token)
  const alien = escapes.find(isPcreOnly)
  if (alien !== undefined) {
    throw filterError('BadValue', place, `invalid regular expression: the PCRE syntax ${alien} is not supported`)
  }
  try {
    return new RegExp(source.replace(tokens, escapeByCode), flags.includes('u') ? flags : `${flags}u`)
  } catch (error) {
    if (flags.includes('u')) throw error
    const expression = new RegExp(source, flags)
    const property = escapes.find((token) => token === '\\p' || token === '\\P')
    if (property === undefined) return expression
    // By units, it is a literal letter.
    const reason = `${property} needs a pattern that is valid with JavaScript's flag u`
    throw filterError('BadValue', place, `invalid regular expression: ${reason}`, error)
  }
}

function isPcreOnly(token: string): boolean {
  if (token.startsWith('[') || token.length > 2) return true
  const escaped = token.slice(1)
  return /[a-z]/i.test(escaped) && !sharedLetters.has(escaped)
}

/** With the u flag, JavaScript rejects escapes of characters without a special meaning: replaces them by their code. */
function escapeByCode(token: string): string {
  return /^\\[\s!"#%&',:;<=>@_`~-]$/.test(token) ? `\\u{${token.charCodeAt(1).toString(16)}}` : token
}
