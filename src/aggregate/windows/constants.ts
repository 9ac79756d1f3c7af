/** Arguments that must not depend on a document: bounds, defaults. */
import { isPlainObject } from '../../model/types.ts'
import { stageError } from '../errors.ts'
import type { FunctionContext } from './window-function.ts'

/** Give something else each time, or read the document without a path. */
const varying: readonly string[] = ['$rand', '$function', '$getField']

/** @throws PetalError FailedToParse for an expression that has a path, a variable, or an operator that is not the same each time */
export function constantOf(
  expression: unknown,
  what: string,
  { place, compiler }: Pick<FunctionContext, 'place' | 'compiler'>
): unknown {
  if (isConstant(expression)) return compiler.compile(expression)({})
  throw stageError('FailedToParse', place, `${what} must be a constant`)
}

export function isConstant(expression: unknown): boolean {
  if (typeof expression === 'string') return !expression.startsWith('$')
  if (Array.isArray(expression)) return expression.every(isConstant)
  if (!isPlainObject(expression)) return true
  return Object.entries(expression).every(
    ([key, value]) => key === '$literal' || (!varying.includes(key) && isConstant(value))
  )
}

/** Whether an expression reads a variable. */
export function hasVariable(expression: unknown): boolean {
  if (typeof expression === 'string') return expression.startsWith('$$')
  if (Array.isArray(expression)) return expression.some(hasVariable)
  return isPlainObject(expression) && Object.values(expression).some(hasVariable)
}
