/** Constants, comparisons, conditionals, and the caller's functions. */
import { isPlainObject } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import type { Expression } from '../expression-compile.ts'
import { compareInExpression, isNil, isTruthy } from '../expression-values.ts'
import {
  arrayOf,
  type Compiler,
  copiesOf,
  fieldsOf,
  listOf,
  nary,
  type Operator,
  type Operators,
  returned,
  unary
} from './operator.ts'

export const logicOperators: Operators = {
  $literal: (argument) => () => argument,
  $eq: comparison((difference) => difference === 0),
  $ne: comparison((difference) => difference !== 0),
  $lt: comparison((difference) => difference < 0),
  $lte: comparison((difference) => difference <= 0),
  $gt: comparison((difference) => difference > 0),
  $gte: comparison((difference) => difference >= 0),
  $cmp: comparison(Math.sign),
  $and: (argument, compiler) => {
    const all = conditionsOf(argument, compiler)
    return (document) => all.every((each) => isTruthy(each(document)))
  },
  $or: (argument, compiler) => {
    const all = conditionsOf(argument, compiler)
    return (document) => all.some((each) => isTruthy(each(document)))
  },
  $not: unary((value) => !isTruthy(value)),
  $cond: (argument, compiler, name) => {
    const parts = Array.isArray(argument) ? argument : branchesOf(argument, name)
    if (parts.length !== 3) throw new TypeError(`${name} takes [if, then, else], got ${parts.length} arguments`)
    const [condition, then, otherwise] = parts.map((part) => compiler.compile(part)) as [
      Expression,
      Expression,
      Expression
    ]
    return (document) => (isTruthy(condition(document)) ? then(document) : otherwise(document))
  },
  $ifNull: (argument, compiler, name) => {
    const all = listOf(argument).map((each) => compiler.compile(each))
    const last = all.pop()
    if (last === undefined || all.length === 0) throw new TypeError(`${name} takes at least 2 arguments`)
    return (document) => {
      for (const each of all) {
        const value = each(document)
        if (!isNil(value)) return value
      }
      return last(document)
    }
  },
  $switch: (argument, compiler, name) => {
    const fields = fieldsOf(argument, name, ['branches'], ['default'])
    const branches = arrayOf(fields.branches, `${name}: branches`).map((branch) => {
      const { case: condition, then } = fieldsOf(branch, `a branch of ${name}`, ['case', 'then'], [])
      return { condition: compiler.compile(condition), result: compiler.compile(then) }
    })
    if (branches.length === 0) throw new TypeError(`${name} takes at least one branch`)
    const otherwise = Object.hasOwn(fields, 'default') ? compiler.compile(fields.default) : undefined
    return (document) => {
      const branch = branches.find(({ condition }) => isTruthy(condition(document)))
      const result = branch?.result ?? otherwise
      if (result === undefined) throw new TypeError(`${name}: no branch matches, and there is no default`)
      return result(document)
    }
  },
  $function: (argument, compiler, name) => {
    const body: unknown = isPlainObject(argument) ? argument.body : argument
    if (typeof body !== 'function') throw new TypeError(`${name}: body must be a function, not ${describeType(body)}`)
    const { args = [] } = fieldsOf(argument, name, ['body'], ['args', 'lang'])
    const values = compiler.compile(args)
    return (document) => {
      // It may take any time, and abort the signal.
      compiler.loops.check()
      return returned(body(...copiesOf(arrayOf(values(document), `${name}: args`))), name)
    }
  }
}

function comparison(test: (difference: number) => unknown): Operator {
  return nary(2, 2, ([a, b]) => test(compareInExpression(a, b)))
}

function conditionsOf(argument: unknown, compiler: Compiler): readonly Expression[] {
  return listOf(argument).map((each) => compiler.compile(each))
}

function branchesOf(argument: unknown, name: string): readonly unknown[] {
  const { if: condition, then, else: otherwise } = fieldsOf(argument, name, ['if', 'then', 'else'], [])
  return [condition, then, otherwise]
}
