/** `$regexMatch`, `$regexFind` and `$regexFindAll`: patterns are those of filters, and positions count code points. */
import { regexParts } from '../../model/scalar.ts'
import { type Document, Type, typeOf } from '../../model/types.ts'
import { createPattern, patternOf, patternWith } from '../../query/pattern.ts'
import { isNil } from '../expression-values.ts'
import { describe, named, type Operator, type Operators, stringOf } from './operator.ts'
import { lengthOf } from './text.ts'

interface Match {
  readonly match: string
  readonly idx: number
  /** null for a group that did not participate. */
  readonly captures: readonly (string | null)[]
}

export const patternOperators: Operators = {
  $regexMatch: searching((found) => found.next().done !== true),
  $regexFind: searching((found) => found.next().value ?? null),
  $regexFindAll: searching((found) => [...found])
}

function searching(answer: (found: Iterator<Match> & Iterable<Match>) => unknown): Operator {
  return (argument, compiler, name) => {
    // Caches the last pattern, which is usually the same for all documents.
    let last: Document = {}
    let expression: RegExp | null = null
    const search = named(['input', 'regex'], ['options'], ({ input, ...values }) => {
      const text = isNil(input) ? null : stringOf(input, `${name}: input`)
      if (values.regex !== last.regex || values.options !== last.options) {
        expression = withGlobalFlag(expressionOf(values, name))
        last = values
      }
      return answer(text === null || expression === null ? nothing() : matches(text, expression))
    })
    return search(argument, compiler, name)
  }
}

/** Returns null if there is no pattern. */
function expressionOf({ regex, options }: Document, name: string): RegExp | null {
  const place = { path: '', operator: name }
  const flags = isNil(options) ? '' : stringOf(options, `${name}: options`)
  if (isNil(regex)) return null
  if (typeof regex === 'string') return createPattern(regex, flags, place).expression
  if (typeOf(regex) !== Type.regex) {
    throw new TypeError(`${name}: regex takes a string or a regular expression, got ${describe(regex)}`)
  }
  const pattern = regex as RegExp
  if (isNil(options)) return patternOf(pattern, place).expression
  if (regexParts(pattern).flags !== '') throw new TypeError(`${name}: options are set both in regex and in options`)
  return patternWith(pattern, flags, place).expression
}

function withGlobalFlag(expression: RegExp | null): RegExp | null {
  return expression === null ? null : new RegExp(expression.source, `${expression.flags}g`)
}

function* nothing(): Generator<Match> {}

/** As in MongoDB, the search goes on after a match, or after the next code point if that is empty, until the text ends. */
function* matches(text: string, expression: RegExp): Generator<Match> {
  let [seen, idx, next] = [0, 0, 0]
  do {
    expression.lastIndex = next
    const found = expression.exec(text)
    if (found === null) return
    const [match, ...groups] = found
    idx += lengthOf(text.slice(seen, found.index))
    seen = found.index
    next = seen + (match.length || String.fromCodePoint(text.codePointAt(seen) ?? 0).length)
    yield { match, idx, captures: groups.map((capture) => capture ?? null) }
  } while (next < text.length)
}
