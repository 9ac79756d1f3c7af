/**
 * Parses a filter object to its normal form: the top level, the logical operators, and implicit equality.
 *
 * REQUIRES: the filter went through sanitize.ts.
 */
import type { StringOrder } from '../model/compare.ts'
import { splitPath } from '../model/path.ts'
import { type Document, isPlainObject, Type, typeOf } from '../model/types.ts'
import { allOf, atPath, type Condition, type Filter, leaf, negate, type QueryPath } from './ast.ts'
import { isFunctionIn } from './callbacks.ts'
import { describeType, type FilterPlace, filterError } from './errors.ts'
import { compileSchema } from './json-schema/compile.ts'
import { impliedBy } from './json-schema/implied.ts'
import { parseSchema } from './json-schema/parse.ts'
import { isOperatorObject, isReferenceKey, parseOperators, parseValue } from './parse-operators.ts'

export interface ParseOptions {
  /** Compiles the argument of `$expr`; without it `$expr` is rejected. */
  readonly expression?: ((expression: unknown) => ExpressionCondition) | undefined
  /** How strings compare if not by code point: a collation (collation.ts). */
  readonly order?: StringOrder | undefined
}

/** An `$expr`, compiled by the caller's aggregation compiler. */
export interface ExpressionCondition {
  /** May be called once the data it needs is loaded. */
  readonly evaluate: (document: Document) => unknown
  /** A filter that every document for which it is true matches; undefined when there is none. */
  readonly implied: Document | undefined
  /** The paths that it looks at; undefined if it may look at anything. */
  readonly paths: ReadonlySet<string> | undefined
}

/** The context of a filter: `$where` and `$expr` need the whole document. */
export interface ParseContext {
  readonly options: ParseOptions
  readonly isTopLevel: boolean
  /** Path of the enclosing `$elemMatch`, for messages only. */
  readonly path: string
}

/** @throws PetalError BadValue, FailedToParse, TypeMismatch, CommandNotSupported */
export function parseFilter(filter: Document, context: ParseContext): Filter {
  const children: Filter[] = []
  for (const key of Object.keys(filter)) {
    const value = filter[key]
    if (key.startsWith('$') && (context.isTopLevel || !isReferenceKey(key))) {
      const child = parseTopLevelOperator(key, value, context)
      if (child !== undefined) children.push(child)
    } else {
      children.push(parseField(key, value, context))
    }
  }
  return allOf(children)
}

function parseField(text: string, value: unknown, context: ParseContext): Filter {
  const path: QueryPath = { text, components: splitPath(text) }
  const fullPath = context.path === '' ? text : `${context.path}.${text}`
  if (path.components.includes('__proto__')) {
    throw filterError('BadValue', { path: fullPath }, "the path component '__proto__' is not allowed")
  }
  const inside: ParseContext = { ...context, path: fullPath }
  return atPath(path, isOperatorObject(value) ? parseOperators(value, inside) : parseValue(value, inside))
}

/** Returns undefined for operators without effect on documents. */
function parseTopLevelOperator(operator: string, value: unknown, context: ParseContext): Filter | undefined {
  const place = { operator, path: context.path }
  switch (operator) {
    case '$and':
      return { kind: 'and', children: parseAlternatives(operator, value, context) }
    case '$or':
      return { kind: 'or', children: parseAlternatives(operator, value, context) }
    case '$nor':
      return negate<Condition>({ kind: 'or', children: parseAlternatives(operator, value, context) })
    case '$comment':
      return undefined
    case '$where':
      return parseWhere(value, context)
    case '$expr':
      return parseExpression(value, context)
    case '$jsonSchema':
      return parseJsonSchema(value, place)
    case '$text':
    case '$sampleRate':
      throw filterError('CommandNotSupported', place, 'this operator is not supported')
    case '$not':
      throw filterError('BadValue', place, 'must be applied to a field; use $nor to negate whole conditions')
    default:
      throw filterError('BadValue', place, 'unknown top level operator')
  }
}

function parseAlternatives(operator: string, value: unknown, context: ParseContext): readonly Filter[] {
  const place = { operator, path: context.path }
  if (!Array.isArray(value)) throw filterError('BadValue', place, `needs an array, not ${describeType(value)}`)
  if (value.length === 0) throw filterError('BadValue', place, 'needs a non-empty array')
  return value.map((entry: unknown) => {
    if (isPlainObject(entry)) return parseFilter(entry, context)
    throw filterError('BadValue', place, `entries must be objects, not ${describeType(entry)}`)
  })
}

function parseWhere(value: unknown, context: ParseContext): Filter {
  const place = { operator: '$where', path: context.path }
  if (!context.isTopLevel) throw filterError('BadValue', place, 'can only be applied to the top-level document')
  if (typeof value !== 'function') {
    const hint =
      typeOf(value) === Type.string || typeOf(value) === Type.javascript ? ' (code in strings is never run)' : ''
    throw filterError('BadValue', place, `needs a function, not ${describeType(value)}${hint}`)
  }
  // sanitize.ts has checked that it is a function; the caller is responsible for its signature.
  return leaf({ kind: 'where', test: value as (this: unknown, document: unknown) => unknown })
}

function parseExpression(value: unknown, context: ParseContext): Filter {
  const place = { operator: '$expr', path: context.path }
  if (!context.isTopLevel) throw filterError('BadValue', place, 'can only be applied to the top-level document')
  const compile = context.options.expression
  if (compile === undefined) throw filterError('CommandNotSupported', place, 'this operator is not supported here')
  const { evaluate, implied, paths } = compile(value)
  const condition: Filter = leaf({ kind: 'expression', evaluate, hasCallback: isFunctionIn(value), paths })
  return implied === undefined ? condition : { kind: 'and', children: [parseFilter(implied, context), condition] }
}

/** Tests first what the schema implies, which is all that indexes need to see. */
function parseJsonSchema(value: unknown, place: FilterPlace): Filter {
  const schema = parseSchema(value, place)
  return allOf([...impliedBy(schema), leaf<Condition>({ kind: 'schema', passes: compileSchema(schema) })])
}
