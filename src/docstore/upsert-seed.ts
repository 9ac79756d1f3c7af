/**
 * The document that an upsert starts from: what the filter says a match must be equal to.
 */
import { PetalError } from '../model/errors.ts'
import { type Document, isPlainObject } from '../model/types.ts'

/**
 * Equalities of the filter by path: plain values, `$eq`, `$in` and `$all` of a single value, also below `$and`, and
 * below an `$or` of a single clause.
 * @example
 * equalities({ a: 1, 'b.c': { $eq: 2 }, d: { $gt: 3 } }) // Map { 'a' → 1, 'b.c' → 2 }
 */
export function equalities(filter: unknown): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>()
  if (isPlainObject(filter)) collect(filter, found)
  return found
}

function collect(filter: Document, found: Map<string, unknown>): void {
  for (const [path, condition] of Object.entries(filter)) {
    if (path === '$and' || (path === '$or' && Array.isArray(condition) && condition.length === 1)) {
      for (const clause of condition as unknown[]) if (isPlainObject(clause)) collect(clause, found)
    } else if (!path.startsWith('$')) {
      const value = equalValue(condition)
      if (value === undefined) continue
      if (found.has(path)) {
        throw new PetalError('BadValue', `Cannot infer the upsert's value of '${path}': the filter equals it twice`, {
          details: { path }
        })
      }
      found.set(path, value)
    }
  }
}

/** undefined when the condition is not an equality. */
function equalValue(condition: unknown): unknown {
  if (condition instanceof RegExp) return undefined
  if (!isPlainObject(condition)) return condition
  const operators = Object.entries(condition)
  if (!operators.some(([name]) => name.startsWith('$'))) return condition
  for (const [operator, operand] of operators) {
    if (operator === '$eq') return operand
    if ((operator === '$in' || operator === '$all') && Array.isArray(operand) && operand.length === 1) return operand[0]
  }
  return undefined
}

/** Sets the values at their dotted paths; `_id` comes first. */
export function seedOf(values: ReadonlyMap<string, unknown>): Document {
  const seed: Document = values.has('_id') ? { _id: values.get('_id') } : {}
  for (const [path, value] of values) if (path !== '_id') setAt(seed, path, value)
  return seed
}

function setAt(seed: Document, path: string, value: unknown): void {
  const components = path.split('.')
  if (components.includes('__proto__')) {
    throw new PetalError('BadValue', `The path '${path}' contains __proto__`, { details: { path } })
  }
  const last = components.pop() as string
  let parent = seed
  for (const component of components) {
    const child = Object.hasOwn(parent, component) ? parent[component] : undefined
    if (child === undefined) parent[component] = {}
    else if (!isPlainObject(child)) {
      throw new PetalError('PathNotViable', `Cannot create '${path}': '${component}' is not an object in the filter`, {
        details: { path }
      })
    } else {
      // The filter's own object must stay as the caller made it.
      parent[component] = { ...child }
    }
    parent = parent[component] as Document
  }
  parent[last] = value
}
