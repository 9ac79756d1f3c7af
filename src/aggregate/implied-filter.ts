/**
 * Derives a filter from an expression: from comparisons of a path with a constant, combined by `$and` and `$or`. The
 * index uses it to narrow candidates; the expression decides.
 *
 * Invariant: every document for which the expression is true matches the implied filter.
 *
 * Expressions do not compare like filters do. A path through an array returns an array, which equals no scalar and is
 * greater than any number; values of all types are in one order, with missing first. So a range implies alternatives:
 *
 * | expression             | implied                                                                       |
 * | ---------------------- | ----------------------------------------------------------------------------- |
 * | `$eq: ['$a.b', 5]`     | `a.b` is 5                                                                    |
 * | `$gt: ['$a.b', 5]`     | `a.b` is above 5, or of a type above numbers; or `a` is an array              |
 * | `$lt: ['$a.b', 5]`     | `a.b` is below 5, NaN, null or missing, or of a type below numbers            |
 */
import { toDouble } from '../model/numbers.ts'
import { type Document, isPlainObject, type Numeric, Type, type TypeCode, typeNames, typeOf } from '../model/types.ts'

/** Returns the value of a constant expression; undefined for anything that has to be computed. */
type ConstantOf = (expression: unknown) => unknown

const scalars: ReadonlySet<TypeCode> = new Set([
  Type.null,
  Type.number,
  Type.string,
  Type.bool,
  Type.date,
  Type.objectId
])
const ranged: ReadonlySet<TypeCode> = new Set([Type.number, Type.string, Type.date])
const flipped: Readonly<Record<string, string>> = { $gt: '$lt', $gte: '$lte', $lt: '$gt', $lte: '$gte', $eq: '$eq' }

/**
 * @param constant returns the value of a variable, by name without `$$`; undefined if not known yet
 * @returns undefined if nothing is implied
 * @example
 * impliedFilter({ $and: [{ $eq: ['$lang', 'en'] }, { $gt: ['$retweets', '$likes'] }] }, () => undefined) // { lang: { $eq: 'en' } }
 */
export function impliedFilter(expression: unknown, constant: (name: string) => unknown): Document | undefined {
  return impliedBy(expression, (operand) => constantOf(operand, constant))
}

/**
 * Returns the filter implied by the `$expr`s at the top level of a filter or within its `$and`. @param constant as
 * above
 */
export function impliedByFilter(filter: unknown, constant: (name: string) => unknown): Document | undefined {
  const implied = expressionsOf(filter)
    .map((expression) => impliedFilter(expression, constant))
    .filter((each) => each !== undefined)
  return implied.length > 1 ? { $and: implied } : implied[0]
}

function expressionsOf(filter: unknown): unknown[] {
  if (!isPlainObject(filter)) return []
  const own = Object.hasOwn(filter, '$expr') ? [filter.$expr] : []
  return Array.isArray(filter.$and) ? own.concat(filter.$and.flatMap(expressionsOf)) : own
}

function impliedBy(expression: unknown, constant: ConstantOf): Document | undefined {
  if (!isPlainObject(expression)) return undefined
  const [operator, ...others] = Object.keys(expression)
  if (operator === undefined || others.length > 0) return undefined
  const operands = expression[operator]
  if (!Array.isArray(operands)) return undefined
  switch (operator) {
    case '$and': {
      const implied = operands.map((operand) => impliedBy(operand, constant)).filter((each) => each !== undefined)
      return implied.length > 1 ? { $and: implied } : implied[0]
    }
    case '$or': {
      const implied = operands.map((operand) => impliedBy(operand, constant))
      return implied.length > 0 && !implied.includes(undefined) ? { $or: implied } : undefined
    }
    case '$in':
      return membership(operands, constant)
    default:
      return Object.hasOwn(flipped, operator) ? comparison(operator, operands, constant) : undefined
  }
}

function membership([value, list]: readonly unknown[], constant: ConstantOf): Document | undefined {
  const path = pathOf(value)
  const values: unknown = Array.isArray(list) ? list.map(constant) : constant(list)
  if (path === undefined || !Array.isArray(values)) return undefined
  return values.every((each) => scalars.has(typeOf(each))) ? { [path]: { $in: values } } : undefined
}

function comparison(operator: string, operands: readonly unknown[], constant: ConstantOf): Document | undefined {
  if (operands.length !== 2) return undefined
  const [left, right] = operands
  const path = pathOf(left)
  if (path === undefined) {
    const mirrored = flipped[operator] as string
    return pathOf(right) === undefined ? undefined : comparison(mirrored, [right, left], constant)
  }
  const value = constant(right)
  const type = typeOf(value)
  if (operator === '$eq') return scalars.has(type) ? { [path]: { $eq: value } } : undefined
  if (!ranged.has(type)) return undefined
  if (type === Type.number && Number.isNaN(toDouble(value as Numeric))) return undefined
  return { $or: [{ [path]: { [operator]: value } }, ...others(path, operator, type)] }
}

/** Returns alternatives for values of other types on the same side of a value of that type. */
function others(path: string, operator: string, type: TypeCode): Document[] {
  const isAbove = operator.startsWith('$g')
  const types = isAbove ? above(type) : typeNames.slice(Type.minKey, type)
  const alternatives: Document[] = [{ [path]: { $type: types } }]
  if (!isAbove) alternatives.push({ [path]: null })
  if (!isAbove && type === Type.number) alternatives.push({ [path]: Number.NaN })
  const isArrayThere = isAbove ? Type.array > type : Type.array < type
  if (isArrayThere) alternatives.push(...prefixes(path).map((prefix) => ({ [prefix]: { $type: 'array' } })))
  return alternatives
}

/** JavaScript with scope has a type name of its own, and sorts after all types with ranges. */
function above(type: TypeCode): readonly string[] {
  return ['javascriptWithScope', ...typeNames.slice(type + 1, Type.maxKey + 1)]
}

function prefixes(path: string): string[] {
  const components = path.split('.')
  return components.slice(1).map((_, i) => components.slice(0, i + 1).join('.'))
}

/** Returns the path that an expression reads from the document; undefined for any other expression. */
function pathOf(expression: unknown): string | undefined {
  if (typeof expression !== 'string' || !/^\$[^$.\0]+(\.[^$.\0]+)*$/.test(expression)) return undefined
  return expression.slice(1)
}

function constantOf(expression: unknown, constant: (name: string) => unknown): unknown {
  if (typeof expression === 'string' && expression.startsWith('$')) {
    return /^\$\$\w+$/.test(expression) ? constant(expression.slice(2)) : undefined
  }
  if (!isPlainObject(expression)) return expression
  return Object.keys(expression).length === 1 && Object.hasOwn(expression, '$literal') ? expression.$literal : undefined
}
