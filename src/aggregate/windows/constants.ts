/** Arguments that must not depend on a document: bounds and defaults. */
import { isPlainObject } from '../../model/types.ts'
import { stageError } from '../errors.ts'
import type { FunctionContext } from './window-function.ts'

/**
 * @throws PetalError FailedToParse for an expression with a path, a variable, or an operator that is not deterministic
 */
export function constantOf(
  expression: unknown,
  what: string,
  { place, compiler }: Pick<FunctionContext, 'place' | 'compiler'>
): unknown {
  if (compiler.isConstant(expression)) return compiler.compile(expression)({})
  throw stageError('FailedToParse', place, `${what} must be a constant`)
}

/** Whether an expression reads a variable. */
export function hasVariable(expression: unknown): boolean {
  if (typeof expression === 'string') return expression.startsWith('$$')
  if (Array.isArray(expression)) return expression.some(hasVariable)
  return isPlainObject(expression) && Object.values(expression).some(hasVariable)
}
