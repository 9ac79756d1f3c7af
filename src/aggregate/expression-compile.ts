/**
 * Compiles expressions to functions: paths, variables, constants, and objects and arrays of them. Operators are left to
 * the resolver.
 */
import { timeOf } from '../model/date.ts'
import { type Document, isPlainObject, Type, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { type Place, stageError } from './errors.ts'
import { compileFieldPath } from './field-path.ts'

/** Returns undefined for missing. */
export type Expression = (document: Document) => unknown

/** Resolves the names in an expression. */
export interface Resolver {
  readonly place: Place
  /** @throws PetalError FailedToParse for an unknown name */
  variable(name: string): Expression
  /** Where a path without a variable starts, if not at the document: the `$$CURRENT` set by a `$let`. */
  readonly current?: Expression | undefined
  operation(name: string, argument: unknown): Expression
}

/** Letters of any script, digits and `_`, but not starting with an ASCII capital: those are system variables. */
export function isVariableName(name: string): boolean {
  return /^[a-z\u0080-\u{10ffff}][A-Za-z0-9_\u0080-\u{10ffff}]*$/u.test(name)
}

/** Returns the error message for an invalid name. */
export function invalidVariableName(name: string): string {
  const rule = 'it must begin with a lowercase letter and contain only letters, digits and underscores'
  return `'${name}' is not a valid variable name: ${rule}`
}

/** @throws PetalError FailedToParse for a malformed expression, BadValue for a constant that no document may hold */
export function compileExpression(expression: unknown, resolver: Resolver): Expression {
  if (typeof expression === 'string' && expression.startsWith('$')) return reference(expression, resolver)
  if (Array.isArray(expression)) {
    const elements = expression.map((element) => compileExpression(element, resolver))
    return (document) => elements.map((element) => element(document) ?? null)
  }
  if (!isPlainObject(expression)) return constant(expression, resolver.place)
  const keys = Object.keys(expression)
  const operator = keys.find((key) => key.startsWith('$'))
  if (operator === undefined) return shape(expression, resolver)
  if (keys.length > 1) {
    throw stageError(
      'FailedToParse',
      resolver.place,
      `an expression must have exactly one operator, got ${keys.join(' and ')}`
    )
  }
  // Handled here, because operators have to be loaded.
  if (operator === '$literal') return constant(expression[operator], resolver.place)
  return resolver.operation(operator, expression[operator])
}

function constant(value: unknown, place: Place): Expression {
  checkConstant(value, place)
  return () => value
}

function checkConstant(value: unknown, place: Place): void {
  if (Array.isArray(value)) {
    for (const element of value) checkConstant(element, place)
  } else if (isPlainObject(value)) {
    for (const field of Object.values(value)) checkConstant(field, place)
  } else if (value === undefined) {
    // It would be a missing field, which is more likely a mistake than intended.
    const instead = 'use $$REMOVE to remove a field, or null to clear it'
    throw stageError('BadValue', place, `undefined is not a value; ${instead}`)
  } else if (typeOf(value) === Type.unsupported) {
    throw stageError('BadValue', place, `a value of type ${describeType(value)} cannot be stored in a document`)
  } else if (typeOf(value) === Type.date && Number.isNaN(timeOf(value))) {
    throw stageError('BadValue', place, 'an invalid date cannot be stored in a document')
  }
}

/** A path or a variable. */
function reference(text: string, resolver: Resolver): Expression {
  if (!text.startsWith('$$')) {
    const path = text.slice(1)
    checkPath(path, resolver.place)
    const get = compileFieldPath(path)
    const { current } = resolver
    return current === undefined ? get : (document) => get(current(document))
  }
  const dot = text.indexOf('.')
  const start = resolver.variable(dot < 0 ? text.slice(2) : text.slice(2, dot))
  if (dot < 0) return start
  const path = text.slice(dot + 1)
  checkPath(path, resolver.place)
  const below = compileFieldPath(path)
  return (document) => below(start(document))
}

function shape(expression: Document, resolver: Resolver): Expression {
  const fields = Object.entries(expression).map(([key, value]) => {
    if (!key.includes('.')) return { key, value: compileExpression(value, resolver) }
    const instead = 'use $setField to create such a field'
    throw stageError('FailedToParse', resolver.place, `the field name '${key}' may not contain '.'; ${instead}`)
  })
  return (document) => {
    const result: Document = {}
    for (const { key, value } of fields) {
      const computed = value(document)
      if (computed !== undefined) result[key] = computed
    }
    return result
  }
}

function checkPath(path: string, place: Place): void {
  const components = path.split('.')
  if (components.includes('')) throw stageError('FailedToParse', place, `the path '$${path}' has an empty component`)
  const bad = components.find((component) => component.startsWith('$') || component === '__proto__')
  if (bad !== undefined)
    throw stageError('FailedToParse', place, `the path '$${path}' has the invalid component '${bad}'`)
}
