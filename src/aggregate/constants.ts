/** Recognises expressions that do not depend on a document. */
import { isPlainObject } from '../model/types.ts'
import { someOperator } from '../query/some-operator.ts'

/** Operators that are not deterministic, or read the document without a path. */
const varying: readonly string[] = ['$rand', '$function', '$getField']

/**
 * Returns false if the expression has a path, a variable that differs between documents, or a nondeterministic operator.
 * @param isFixed whether a variable has one value for all documents
 */
export function isConstant(expression: unknown, isFixed: (name: string) => boolean = () => false): boolean {
  if (typeof expression === 'string') {
    if (!expression.startsWith('$')) return true
    return expression.startsWith('$$') && isFixed(expression.slice(2).split('.', 1)[0] as string)
  }
  if (Array.isArray(expression)) return expression.every((element) => isConstant(element, isFixed))
  if (!isPlainObject(expression)) return true
  return Object.entries(expression).every(
    ([key, value]) => key === '$literal' || (!varying.includes(key) && isConstant(value, isFixed))
  )
}

/** Whether an expression contains operators, which have to be loaded. */
export function hasOperator(expression: unknown): boolean {
  return someOperator(expression, (name) => name.startsWith('$'))
}
