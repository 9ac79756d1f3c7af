/**
 * Regular expressions of a filter, as JavaScript's engine runs them.
 *
 * MongoDB runs PCRE. The common ground is large; what differs is listed in docs/query-semantics.md. Two PCRE features
 * are translated because data written for MongoDB uses them: leading inline flags `(?i)` and extended syntax (`x`).
 */
import { compareStrings } from '../model/compare.ts'
import { regexParts } from '../model/scalar.ts'
import { type FilterPlace, filterError } from './errors.ts'

export interface Pattern {
  /** Without `g` and `y`: testing keeps no state. */
  readonly expression: RegExp
  /** What a stored regular expression must have to be matched as a value. */
  readonly source: string
  readonly flags: string
}

/** The pattern of a RegExp or BSONRegExp. */
export function patternOf(
  value: RegExp | { readonly pattern: string; readonly options: string },
  place: FilterPlace
): Pattern {
  const { source, flags } = regexParts(value)
  if (!(value instanceof RegExp)) return createPattern(source, flags, place)
  return { expression: new RegExp(value.source, value.flags.replace(/[gyd]/g, '')), source, flags }
}

/**
 * @param options any of `imsxu`
 * @throws PetalError BadValue for an unknown option or a pattern that does not compile
 */
export function createPattern(source: string, options: string, place: FilterPlace): Pattern {
  const unknownOption = /[^imsxu]/.exec(options)
  if (unknownOption !== null) throw filterError('BadValue', place, `invalid regex option '${unknownOption[0]}'`)
  if (source.includes('\0')) throw filterError('BadValue', place, 'a regular expression cannot contain a null byte')
  const flags = [...new Set(options)].sort(compareStrings).join('')
  const inline = /^\(\?([imsx]+)\)/.exec(source)
  const effective = new Set(flags + (inline?.[1] ?? ''))
  const body = inline === null ? source : source.slice(inline[0].length)
  const isExtended = effective.delete('x')
  try {
    const expression = new RegExp(isExtended ? withoutComments(body) : body, [...effective].join(''))
    return { expression, source, flags }
  } catch (error) {
    throw filterError('BadValue', place, `invalid regular expression /${source}/${flags}`, error)
  }
}

/** Extended syntax: white space and `#` comments outside of classes mean nothing unless escaped. */
function withoutComments(source: string): string {
  return source.replace(/\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|\s+|#[^\n]*/g, (token) =>
    token.startsWith('\\') || token.startsWith('[') ? token : ''
  )
}
