/** Recognises filters that call functions of the caller, which may do anything, for example change Object.prototype. */
import type { Filter } from './ast.ts'
import { someOperator } from './some-operator.ts'

/** Whether testing a document may call a function of the caller: a `$where`, or a `$function` within an `$expr`. */
export function hasCallback(filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.children.some(hasCallback)
    case 'not':
      return hasCallback(filter.child)
    case 'never':
      return false
    case 'leaf':
      return filter.leaf.kind === 'where' || (filter.leaf.kind === 'expression' && filter.leaf.hasCallback)
  }
}

/** Like hasCallback(), for an expression as written. */
export function isFunctionIn(expression: unknown): boolean {
  return someOperator(expression, (name) => name === '$function')
}
