/** Searches expressions as written. */
import { isPlainObject } from '../model/types.ts'

/** Whether the test accepts the name of an operator, or any other key, in an expression; literals are not searched. */
export function someOperator(expression: unknown, test: (name: string) => boolean): boolean {
  if (Array.isArray(expression)) return expression.some((element) => someOperator(element, test))
  if (!isPlainObject(expression)) return false
  return Object.entries(expression).some(
    ([key, value]) => key !== '$literal' && (test(key) || someOperator(value, test))
  )
}
