/** Recognises filters that call functions of the caller, which may do anything, for example change Object.prototype. */
import { type Filter, leavesOf } from './ast.ts'
import { someOperator } from './some-operator.ts'

/** Whether testing a document may call a function of the caller: a `$where`, or a `$function` within an `$expr`. */
export function hasCallback(filter: Filter): boolean {
  return leavesOf(filter).some(
    (condition) => condition.kind === 'where' || (condition.kind === 'expression' && condition.hasCallback)
  )
}

/** Like hasCallback(), for an expression as written. */
export function isFunctionIn(expression: unknown): boolean {
  return someOperator(expression, (name) => name === '$function')
}
