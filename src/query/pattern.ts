/**
 * Regular expressions of a filter, as JavaScript's engine runs them.
 *
 * A RegExp means what it means in JavaScript. A pattern that is a string, or a BSONRegExp, is read as MongoDB's PCRE reads it as far
 * as JavaScript can: by code points, with leading inline flags `(?i)` and extended syntax (`x`). What JavaScript would take
 * for something else is refused; what differs still is listed in docs/query-semantics.md.
 */
import { compareStrings } from '../model/compare.ts'
import { PetalError } from '../model/errors.ts'
import { regexParts } from '../model/scalar.ts'
import { type FilterPlace, filterError } from './errors.ts'

export interface Pattern {
  /** Without `g` and `y`: testing keeps no state. */
  readonly expression: RegExp
  /** What a stored regular expression must have to be matched as a value. */
  readonly source: string
  readonly flags: string
}

export type StoredRegex = RegExp | { readonly pattern: string; readonly options: string }

/** The pattern of a RegExp or BSONRegExp. */
export function patternOf(value: StoredRegex, place: FilterPlace): Pattern {
  const { source, flags } = regexParts(value)
  if (!(value instanceof RegExp)) return create(source, flags, place, byCodePoints)
  return { expression: new RegExp(value.source, value.flags.replace(/[gyd]/g, '')), source, flags }
}

/** The pattern of a RegExp or BSONRegExp without flags, with options beside it. @throws as createPattern() */
export function patternWith(value: StoredRegex, options: string, place: FilterPlace): Pattern {
  const compile: Compile = value instanceof RegExp ? (source, flags) => new RegExp(source, flags) : byCodePoints
  return create(regexParts(value).source, options, place, compile)
}

/**
 * The pattern of a string.
 * @param options any of `imsxu`
 * @throws PetalError BadValue for an unknown option, a pattern that does not compile, and syntax of PCRE that JavaScript has not
 */
export function createPattern(source: string, options: string, place: FilterPlace): Pattern {
  return create(source, options, place, byCodePoints)
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

/** Extended syntax: white space and `#` comments outside of classes mean nothing unless escaped. */
function withoutComments(source: string): string {
  return source.replace(/\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|\s+|#[^\n]*/g, (token) =>
    token.startsWith('\\') || token.startsWith('[') ? token : ''
  )
}

/** Escapes, each as one so that an escaped backslash begins none, and classes of POSIX. */
const tokens = /\\(?:[xk]\{|k'|[\s\S])|\[:\^?\w+:\]/g
/** Escapes of letters that both read alike; of all others JavaScript makes the letter. */
const sharedLetters = new Set('bBcdDfknpPrsStuvwWx')

/** As PCRE reads a text. What JavaScript takes only by UTF-16 units, such as a brace that stands for itself, is left so. */
function byCodePoints(source: string, flags: string, place: FilterPlace): RegExp {
  const escapes = Array.from(source.matchAll(tokens), ([token]) => token)
  const alien = escapes.find(isOfPcreAlone)
  if (alien !== undefined) {
    throw filterError('BadValue', place, `invalid regular expression: ${alien} is syntax of PCRE that is not supported`)
  }
  try {
    return new RegExp(source.replace(tokens, byCode), flags.includes('u') ? flags : `${flags}u`)
  } catch (error) {
    if (flags.includes('u')) throw error
    const expression = new RegExp(source, flags)
    const property = escapes.find((token) => token === '\\p' || token === '\\P')
    if (property === undefined) return expression
    // By units, it is a letter.
    const reason = `${property} needs a pattern that is valid under JavaScript's flag u`
    throw filterError('BadValue', place, `invalid regular expression: ${reason}`, error)
  }
}

function isOfPcreAlone(token: string): boolean {
  if (token.startsWith('[') || token.length > 2) return true
  const escaped = token.slice(1)
  return /[a-z]/i.test(escaped) && !sharedLetters.has(escaped)
}

/** By code points, JavaScript knows no escapes of characters that mean nothing else. */
function byCode(token: string): string {
  return /^\\[\s!"#%&',:;<=>@_`~-]$/.test(token) ? `\\u{${token.charCodeAt(1).toString(16)}}` : token
}
