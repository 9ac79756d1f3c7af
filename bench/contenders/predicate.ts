/**
 * The benchmark's filters in plain JavaScript, as written for scans of a key-value store: compiled to closures once per
 * query, and independent of PetalDB's matcher.
 */
import type { Document } from '../../src/model/types.ts'

type Predicate = (document: Document) => boolean
type Test = (values: readonly unknown[]) => boolean

/** Supports the operators of the query classes and throws on any other. */
export function predicate(filter: Document): Predicate {
  const parts = Object.entries(filter).map(([key, operand]): Predicate => {
    if (key === '$and') return every((operand as Document[]).map(predicate))
    if (key === '$or') return some((operand as Document[]).map(predicate))
    return onPath(key.split('.'), operand)
  })
  return every(parts)
}

function every(parts: readonly Predicate[]): Predicate {
  if (parts.length === 1 && parts[0] !== undefined) return parts[0]
  return (document) => parts.every((part) => part(document))
}

function some(parts: readonly Predicate[]): Predicate {
  return (document) => parts.some((part) => part(document))
}

function onPath(keys: readonly string[], operand: unknown): Predicate {
  const tests = isOperators(operand)
    ? Object.entries(operand).map(([name, argument]) => operator(name, argument))
    : [operator('$eq', operand)]
  return (document) => {
    const values: unknown[] = []
    collect(document, keys, 0, values)
    return tests.every((test) => test(values))
  }
}

function isOperators(operand: unknown): operand is Document {
  return typeof operand === 'object' && operand !== null && Object.keys(operand).every((key) => key.startsWith('$'))
}

/** Collects the values on the path: elements of arrays, not the arrays. */
function collect(value: unknown, keys: readonly string[], depth: number, values: unknown[]): void {
  if (Array.isArray(value)) {
    for (const element of value) collect(element, keys, depth, values)
    return
  }
  const key = keys[depth]
  if (key === undefined) {
    if (value !== undefined) values.push(value)
  } else if (typeof value === 'object' && value !== null) collect((value as Document)[key], keys, depth + 1, values)
}

function operator(name: string, argument: unknown): Test {
  switch (name) {
    case '$eq':
      return (values) => values.includes(argument)
    case '$ne':
      return (values) => !values.includes(argument)
    case '$in': {
      const wanted = new Set(argument as unknown[])
      return (values) => values.some((value) => wanted.has(value))
    }
    case '$exists':
      return (values) => values.length > 0 === argument
    case '$gte':
      return (values) => values.some((value) => typeof value === 'number' && value >= (argument as number))
    case '$lt':
      return (values) => values.some((value) => typeof value === 'number' && value < (argument as number))
    case '$regex': {
      const pattern = new RegExp(argument as string)
      return (values) => values.some((value) => typeof value === 'string' && pattern.test(value))
    }
    default:
      throw new TypeError(`no query class uses ${name}`)
  }
}
