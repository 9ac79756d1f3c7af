/** Operators that bind variables: `$let`, and those that evaluate an expression for each element. */
import { assertDepth } from '../../model/depth.ts'
import { isPlainObject } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import { isNil, isTruthy } from '../expression-values.ts'
import { Growing } from './growing.ts'
import { arrayOf, fieldsOf, integerOf, type Operators, type Variable } from './operator.ts'

export const iterationOperators: Operators = {
  $let: (argument, compiler, name) => {
    const fields = fieldsOf(argument, name, ['vars', 'in'], [])
    if (!isPlainObject(fields.vars)) {
      throw new TypeError(`${name}: vars takes an object, not ${describeType(fields.vars)}`)
    }
    // Compiled outside of the new scope: the variables do not see each other.
    const values = Object.values(fields.vars).map((value) => compiler.compile(value))
    const inner = compiler.withVariables(Object.keys(fields.vars))
    const body = inner.compiler.compile(fields.in)
    return (document) => {
      const now = values.map((value) => value(document))
      inner.variables.forEach((variable, i) => {
        variable.value = now[i]
      })
      return body(document)
    }
  },
  $map: (argument, compiler, name) => {
    const { input, as = 'this', in: body } = fieldsOf(argument, name, ['input', 'in'], ['as'])
    const { list, element, inner } = elements(input, as, name, compiler)
    const each = inner.compile(body)
    const { loops } = compiler
    return (document) => {
      const values = list(document)
      return values === null
        ? null
        : values.map((value) => {
            loops.count()
            element.value = value
            return each(document) ?? null
          })
    }
  },
  $filter: (argument, compiler, name) => {
    const { input, as = 'this', cond, limit = null } = fieldsOf(argument, name, ['input', 'cond'], ['as', 'limit'])
    const { list, element, inner } = elements(input, as, name, compiler)
    const condition = inner.compile(cond)
    const most = compiler.compile(limit)
    const { loops } = compiler
    return (document) => {
      const values = list(document)
      if (values === null) return null
      const wanted = most(document)
      const left = isNil(wanted) ? Number.POSITIVE_INFINITY : integerOf(wanted, `${name}: limit`, 1)
      const found: unknown[] = []
      for (const value of values) {
        loops.count()
        element.value = value
        if (isTruthy(condition(document)) && found.push(value) >= left) break
      }
      return found
    }
  },
  $reduce: (argument, compiler, name) => {
    const { input, initialValue, in: body } = fieldsOf(argument, name, ['input', 'initialValue', 'in'], [])
    const all = compiler.compile(input)
    const initial = compiler.compile(initialValue)
    const growing = new Growing()
    const { compiler: inner, variables } = compiler.withVariables(['value', 'this'], growing.operators(body))
    const [value, element] = variables as [Variable, Variable]
    const next = inner.compile(body)
    const { loops } = compiler
    return (document) => {
      const values = all(document)
      if (isNil(values)) return null
      const first = initial(document)
      let result = first
      try {
        for (const each of arrayOf(values, `${name}: input`)) {
          loops.count()
          value.value = result
          element.value = each
          result = next(document)
          growing.keepOnly(result)
        }
      } finally {
        growing.release()
      }
      // Each element may have nested the value once more, which no other operator can do without end.
      if (result !== first) assertDepth(result, `${name}: its value`)
      return result
    }
  }
}

/** Compiles the array to iterate over, and the variable for its elements. */
function elements(input: unknown, as: unknown, name: string, compiler: Parameters<Operators[string]>[1]) {
  if (typeof as !== 'string') throw new TypeError(`${name}: as takes a string, not ${describeType(as)}`)
  const value = compiler.compile(input)
  const { compiler: inner, variables } = compiler.withVariables([as])
  const list = (document: Parameters<typeof value>[0]): readonly unknown[] | null => {
    const found = value(document)
    return isNil(found) ? null : arrayOf(found, `${name}: input`)
  }
  return { list, element: variables[0] as Variable, inner }
}
