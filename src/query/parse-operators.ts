/** Parses the operators under a field to a test: `{ $gt: 1, $lt: 5 }`. */
import { compareNumbers } from '../model/numbers.ts'
import { type Document, isPlainObject, type Numeric, Type, typeOf } from '../model/types.ts'
import { allOf, type Formula, leaf, negate, type Predicate, type RangeOperator, type Test } from './ast.ts'
import { equalTest, memberTest, rangeTest } from './comparisons.ts'
import { describeType, filterError } from './errors.ts'
import { type ParseContext, parseFilter } from './parse.ts'
import { isBitsOperator, parseBits, parseMod, parseSize, parseTypes } from './parse-arguments.ts'
import { createPattern, type Pattern, patternOf, patternWith, type StoredRegex } from './pattern.ts'

/** An object whose first key begins with `$` contains operators, unless it is a DBRef; any other object is a value. */
export function isOperatorObject(value: unknown): value is Document {
  return isPlainObject(value) && isOperator(Object.keys(value)[0])
}

function isOperator(key: string | undefined): boolean {
  return key?.startsWith('$') === true && !isReferenceKey(key)
}

/** Whether a key is a field of a DBRef, not an operator. */
export function isReferenceKey(key: string): boolean {
  return key === '$ref' || key === '$id' || key === '$db'
}

/** The test of `{ field: value }`: a regular expression is matched, everything else is compared. */
export function parseValue(value: unknown, context: ParseContext): Test {
  return isRegex(value)
    ? leaf({ kind: 'regex', pattern: patternOf(value, { path: context.path }) })
    : equalTest(value, context.options.order)
}

/** The conjunction of all operators in the object. */
export function parseOperators(operators: Document, context: ParseContext): Test {
  const children: Test[] = []
  for (const operator of Object.keys(operators)) {
    const test = parseOperator(operator, operators, context)
    if (test !== undefined) children.push(test)
  }
  return allOf(children)
}

/** Returns undefined for operators without effect of their own. */
function parseOperator(operator: string, operators: Document, context: ParseContext): Test | undefined {
  const place = { operator, path: context.path }
  const value = operators[operator]
  switch (operator) {
    case '$eq':
      return equalTest(value, context.options.order)
    case '$ne':
      if (isRegex(value)) throw filterError('BadValue', place, 'cannot take a regular expression; use $not')
      return negate(equalTest(value, context.options.order))
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return parseRange(operator, value, context)
    case '$in':
      return parseIn(operator, value, context)
    case '$nin':
      return negate(parseIn(operator, value, context))
    case '$exists':
      return isTrue(value) ? leaf({ kind: 'exists' }) : negate<Predicate>(leaf({ kind: 'exists' }))
    case '$type':
      return leaf({ kind: 'type', types: parseTypes(value, place) })
    case '$size':
      return leaf({ kind: 'size', length: parseSize(value, place) })
    case '$mod':
      return leaf({ kind: 'mod', ...parseMod(value, place) })
    case '$all':
      return parseAll(value, context)
    case '$elemMatch':
      return leaf(parseElemMatch(value, context))
    case '$not':
      return parseNot(value, context)
    case '$regex':
      return leaf({ kind: 'regex', pattern: parseRegex(operators, context) })
    case '$options':
      if (Object.hasOwn(operators, '$regex')) return undefined
      throw filterError('BadValue', place, 'needs a $regex')
    case '$comment':
      return undefined
    case '$geoWithin':
    case '$geoIntersects':
    case '$near':
    case '$nearSphere':
    case '$within':
      throw filterError('CommandNotSupported', place, 'geospatial operators are not supported')
    default:
      if (isBitsOperator(operator)) return leaf({ kind: 'bits', operator, ...parseBits(value, place) })
      throw filterError('BadValue', place, 'unknown operator')
  }
}

function parseRange(operator: RangeOperator, value: unknown, context: ParseContext): Test {
  if (isRegex(value)) {
    throw filterError('BadValue', { operator, path: context.path }, 'cannot compare with a regular expression')
  }
  return rangeTest(operator, value, context.options.order)
}

function parseIn(operator: string, value: unknown, context: ParseContext): Test {
  const place = { operator, path: context.path }
  if (!Array.isArray(value)) throw filterError('BadValue', place, `needs an array, not ${describeType(value)}`)
  const values: unknown[] = []
  const patterns: Pattern[] = []
  for (const entry of value as readonly unknown[]) {
    if (isOperatorObject(entry)) throw filterError('BadValue', place, 'cannot contain operators')
    if (isRegex(entry)) patterns.push(patternOf(entry, place))
    else values.push(entry)
  }
  return memberTest(values, patterns, context.options.order)
}

/** `$all` is a conjunction of equalities, so that it can hold for a scalar, too; without elements it never holds. */
function parseAll(value: unknown, context: ParseContext): Test {
  const place = { operator: '$all', path: context.path }
  if (!Array.isArray(value)) throw filterError('BadValue', place, `needs an array, not ${describeType(value)}`)
  const entries: readonly unknown[] = value
  if (entries.length === 0) return { kind: 'never' }
  const isElemMatch = (entry: unknown): boolean => isPlainObject(entry) && Object.keys(entry)[0] === '$elemMatch'
  if (isElemMatch(entries[0])) {
    return allOf(
      entries.map((entry): Formula<Predicate> => {
        if (!isElemMatch(entry)) throw filterError('BadValue', place, 'either all entries must be $elemMatch, or none')
        return parseOperators(entry as Document, context)
      })
    )
  }
  return allOf(
    entries.map((entry): Formula<Predicate> => {
      if (isOperatorObject(entry))
        throw filterError('BadValue', place, 'cannot contain operators other than $elemMatch')
      return parseValue(entry, context)
    })
  )
}

/** These take documents, including elements that are documents; two of them are rejected below the top level. */
const topLevelOperators = new Set<unknown>(['$and', '$or', '$nor', '$where', '$expr', '$jsonSchema'])

/** Operators test the elements themselves; anything else is a filter that takes elements as documents. */
function parseElemMatch(value: unknown, context: ParseContext): Predicate {
  if (!isPlainObject(value)) {
    const place = { operator: '$elemMatch', path: context.path }
    throw filterError('BadValue', place, `needs an object, not ${describeType(value)}`)
  }
  const inside: ParseContext = { ...context, isTopLevel: false }
  const first = Object.keys(value).find((key) => key !== '$comment')
  return isOperator(first) && !topLevelOperators.has(first)
    ? { kind: 'elemMatchValue', test: parseOperators(value, inside) }
    : { kind: 'elemMatchObject', filter: parseFilter(value, inside) }
}

function parseNot(value: unknown, context: ParseContext): Test {
  const place = { operator: '$not', path: context.path }
  if (isRegex(value)) return negate(parseValue(value, context))
  if (!isPlainObject(value)) {
    throw filterError('BadValue', place, `needs a regular expression or operators, not ${describeType(value)}`)
  }
  if (Object.keys(value).length === 0) throw filterError('BadValue', place, 'cannot be empty')
  return negate(parseOperators(value, context))
}

function parseRegex(operators: Document, context: ParseContext): Pattern {
  const regex = operators.$regex
  const options = operators.$options
  const place = { operator: '$regex', path: context.path }
  if (options !== undefined && typeof options !== 'string') {
    throw filterError('BadValue', { ...place, operator: '$options' }, `needs a string, not ${describeType(options)}`)
  }
  if (typeof regex === 'string') return createPattern(regex, options ?? '', place)
  if (!isRegex(regex)) {
    throw filterError('BadValue', place, `needs a string or a regular expression, not ${describeType(regex)}`)
  }
  const pattern = patternOf(regex, place)
  if (options === undefined) return pattern
  if (pattern.flags !== '') throw filterError('BadValue', place, 'options are set both in $regex and in $options')
  return patternWith(regex, options, place)
}

export function isRegex(value: unknown): value is StoredRegex {
  return typeOf(value) === Type.regex
}

/** The truth value of an operator's argument: false, 0 and null are false, everything else is true. */
function isTrue(value: unknown): boolean {
  switch (typeOf(value)) {
    case Type.bool:
      return value === true
    case Type.number:
      return compareNumbers(value as Numeric, 0) !== 0
    default:
      return value !== null
  }
}
