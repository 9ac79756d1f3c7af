/** Expressions that do not depend on a document. */
import { isPlainObject } from '../model/types.ts'

/** Give something else each time, or read the document without a path. */
const varying: readonly string[] = ['$rand', '$function', '$getField']

/** False for an expression that has a path, a variable, or an operator that is not the same each time. */
export function isConstant(expression: unknown): boolean {
  if (typeof expression === 'string') return !expression.startsWith('$')
  if (Array.isArray(expression)) return expression.every(isConstant)
  if (!isPlainObject(expression)) return true
  return Object.entries(expression).every(
    ([key, value]) => key === '$literal' || (!varying.includes(key) && isConstant(value))
  )
}

/** Whether an expression has operators, which have to be loaded. */
export function hasOperator(expression: unknown): boolean {
  if (Array.isArray(expression)) return expression.some(hasOperator)
  if (!isPlainObject(expression)) return false
  return Object.entries(expression).some(
    ([key, value]) => key !== '$literal' && (key.startsWith('$') || hasOperator(value))
  )
}
