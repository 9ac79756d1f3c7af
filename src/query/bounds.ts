/**
 * Derives bounds from the normal form: an expression over pairs with lower ⊆ matches ⊆ upper. For the rules and the
 * reasons see docs/query-semantics.md.
 *
 * Invariants:
 * 1. Lower bounds come only from plain pairs and ranges: equality with an exact scalar, `$exists`, `$size`, `$type`,
 *    comparisons and literal prefixes, on paths whose pairs mean what the query means. Everything else is wrapped by
 *    `upperOnly`.
 * 2. Negation is `not` of bounds. Inside `$elemMatch`, where pairs of all elements are mixed, a negated part is not
 *    bounded: "some element lacks it" does not mean "the document lacks it".
 */
import {
  all,
  and,
  isRangeType,
  none,
  not,
  or,
  type PairExpression,
  pairOf,
  type RangeEnd,
  rangeOf,
  unknown,
  upperOnly
} from '../model/pairs.ts'
import { toScalar } from '../model/scalar.ts'
import { Type, type TypeCode, typeOf } from '../model/types.ts'
import type { Condition, Filter, Formula, Predicate, RangeOperator, Test, TypeTest } from './ast.ts'
import {
  type IndexedPath,
  pairsOfValue,
  prefixesOf,
  rootPath,
  sizeAt,
  typeAt,
  valueAt,
  walkPath
} from './indexed-path.ts'
import type { Pattern } from './pattern.ts'
import { prefixOf } from './pattern-prefix.ts'

export function boundsOf(filter: Filter): PairExpression {
  switch (filter.kind) {
    case 'and':
      return and(filter.children.map(boundsOf))
    case 'or':
      return or(filter.children.map(boundsOf))
    case 'not':
      return not(boundsOf(filter.child))
    case 'never':
      return none
    case 'leaf':
      return conditionBounds(filter.leaf)
  }
}

function conditionBounds(condition: Condition): PairExpression {
  switch (condition.kind) {
    case 'where':
    case 'expression':
    case 'schema':
      return unknown
    case 'field': {
      const path = walkPath(rootPath, condition.path.components)
      const bounds = predicateBounds(condition.predicate, path, nullOrMissing)
      return path.isPlain ? bounds : upperOnly(upperOf(bounds))
    }
  }
}

/** Bounds of "equals null", which depend on what null means in that place. */
type NullRule = (path: IndexedPath) => PairExpression

/** Bounds of a predicate on the values of a path, assuming that pairs on the path mean exactly what the query means. */
function predicateBounds(predicate: Predicate, path: IndexedPath, nullRule: NullRule): PairExpression {
  switch (predicate.kind) {
    case 'equal':
      return equalityBounds(predicate.value, path, nullRule)
    case 'in':
      return membershipBounds(predicate, path, nullRule)
    case 'range':
      return rangeBounds(path, predicate.operator, predicate.value)
    case 'collated':
      return upperOnly(anyType(path, [...new Set(predicate.values.map(typeOf))]))
    case 'regex':
      return patternBounds(predicate.pattern, path)
    case 'exists':
      return factAt(path, (indexPath) => pairOf({ kind: 'exists', path: indexPath }))
    case 'type':
      return or(predicate.types.map((type) => typeBounds(type, path)))
    case 'size':
      return factAt(path, (indexPath) => sizeAt(indexPath, predicate.length))
    case 'mod':
      return upperOnly(anyType(path, [Type.number]))
    case 'bits':
      return upperOnly(anyType(path, [Type.number, Type.binData]))
    case 'elemMatchValue':
      return upperOnly(and([anyType(path, [Type.array]), elementUpper(predicate.test, path)]))
    case 'elemMatchObject':
      return upperOnly(and([anyType(path, [Type.array]), subdocumentUpper(predicate.filter, path)]))
  }
}

function equalityBounds(value: unknown, path: IndexedPath, nullRule: NullRule): PairExpression {
  if (value === null) return nullRule(path)
  const scalar = toScalar(value)
  if (scalar === undefined) return upperOnly(and(pairsOfValue(path, value)))
  const bounds = factAt(path, (indexPath) => valueAt(indexPath, scalar))
  // Code with different scopes has the same key.
  const isProof = scalar.exact && scalar.type !== Type.regex && scalar.type !== Type.javascript
  return isProof ? bounds : upperOnly(bounds)
}

/** With more alternatives, their rows cost more than the candidates that they exclude. */
const maxAlternatives = 50_000

function membershipBounds(
  { values, patterns }: Extract<Predicate, { kind: 'in' }>,
  path: IndexedPath,
  nullRule: NullRule
): PairExpression {
  const alternatives = patterns.map((pattern) => patternBounds(pattern, path))
  if (values.length <= maxAlternatives) {
    return or([...values.map((value) => equalityBounds(value, path, nullRule)), ...alternatives])
  }
  const types = new Set(values.map(typeOf))
  if (types.delete(Type.null)) alternatives.push(nullRule(path))
  return upperOnly(or([anyType(path, [...types]), ...alternatives]))
}

/**
 * Converts a comparison to a range, here alone.
 * MinKey and MaxKey compare with every type, including missing values.
 */
function rangeBounds(path: IndexedPath, operator: RangeOperator, bound: unknown): PairExpression {
  const type = typeOf(bound)
  if (type === Type.minKey || type === Type.maxKey) return unknown
  const scalar = toScalar(bound)
  if (scalar === undefined || !isRangeType(type)) return upperOnly(anyType(path, [type]))
  const rangeTo = (isInclusive: boolean): PairExpression => {
    const end: RangeEnd = { key: scalar.key, isInclusive }
    const isLow = operator === '$gt' || operator === '$gte'
    const ends = isLow ? { low: end, high: undefined } : { low: undefined, high: end }
    return factAt(path, (indexPath) => rangeOf({ path: indexPath, type, ...ends }))
  }
  if (scalar.exact) return rangeTo(operator === '$gte' || operator === '$lte')
  // Rounding keeps the order but creates ties: beyond the rounded bound is beyond the bound, equal to it may be.
  return { kind: 'bounds', lower: rangeTo(false), upper: rangeTo(true) }
}

function patternBounds(pattern: Pattern, path: IndexedPath): PairExpression {
  const prefix = prefixOf(pattern)
  if (prefix === undefined) return upperOnly(anyType(path, [Type.string, Type.regex]))
  const strings = factAt(path, (indexPath) => rangeOf({ path: indexPath, type: Type.string, ...prefix.ends }))
  return {
    kind: 'bounds',
    lower: prefix.isWhole ? strings : none,
    upper: or([strings, anyType(path, [Type.regex])])
  }
}

function typeBounds(test: TypeTest, path: IndexedPath): PairExpression {
  switch (test.kind) {
    case 'code':
      return anyType(path, [test.code])
    case 'numeric':
      return upperOnly(anyType(path, [Type.number]))
    case 'javascript':
      return upperOnly(anyType(path, [Type.javascript]))
  }
}

/**
 * Null on a path of a document: a null value, or missing.
 *
 * lower: there is a null on the path; or the path does not exist and no prefix is an array, so that the walk yields
 * missing rather than nothing.
 * upper: if the path certainly exists, without a null or an array on the way, its only value is another one.
 */
function nullOrMissing(path: IndexedPath): PairExpression {
  if (!path.isPlain) return unknown
  const isNull = typeAt(path.text, Type.null)
  const isMissing = not(pairOf({ kind: 'exists', path: path.text }))
  const arrays = prefixesOf(path).map((prefix) => typeAt(prefix, Type.array))
  if (arrays.length === 0) return or([isNull, isMissing])
  return {
    kind: 'bounds',
    lower: or([isNull, and([isMissing, ...arrays.map(not)])]),
    upper: or([isNull, isMissing, ...arrays])
  }
}

/** An array element is never missing. */
function nullElement(path: IndexedPath): PairExpression {
  return upperOnly(anyType(path, [Type.null]))
}

/** A field may be missing in one array element, whatever other elements contain. */
function nullInElement(): PairExpression {
  return unknown
}

/** What the document must have if one of its elements on the path passes the test. */
function elementUpper(test: Test, path: IndexedPath): PairExpression {
  return upperInElement(test, (predicate) =>
    predicate.kind === 'exists' ? all : upperOf(predicateBounds(predicate, path, nullElement))
  )
}

/** What the document must have if one of its elements on the path, as a document, matches the filter. */
function subdocumentUpper(filter: Filter, path: IndexedPath): PairExpression {
  return upperInElement(filter, (condition) => {
    if (condition.kind !== 'field') return all
    return upperOf(predicateBounds(condition.predicate, walkPath(path, condition.path.components), nullInElement))
  })
}

/** Pairs of all elements are mixed, so that a negated part says nothing. */
function upperInElement<Leaf>(formula: Formula<Leaf>, upperOfLeaf: (leaf: Leaf) => PairExpression): PairExpression {
  switch (formula.kind) {
    case 'and':
      return and(formula.children.map((child) => upperInElement(child, upperOfLeaf)))
    case 'or':
      return or(formula.children.map((child) => upperInElement(child, upperOfLeaf)))
    case 'not':
      return all
    case 'never':
      return none
    case 'leaf':
      return upperOfLeaf(formula.leaf)
  }
}

/** Extracts the upper bound. REQUIRES: no negation in `bounds`, except that of null. */
function upperOf(bounds: PairExpression): PairExpression {
  return bounds.kind === 'bounds' ? bounds.upper : bounds
}

function anyType(path: IndexedPath, types: readonly TypeCode[]): PairExpression {
  return or(types.map((type) => factAt(path, (indexPath) => typeAt(indexPath, type))))
}

/** Does not rely on pairs on the empty path: only digits and the empty key lead there. */
function factAt(path: IndexedPath, fact: (indexPath: string) => PairExpression): PairExpression {
  return path.text === '' ? unknown : fact(path.text)
}
