/** Functions of the order of a partition: ranks, and values of other documents. */
import { type Document, isPlainObject } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import type { CompiledSort } from '../../query/sort.ts'
import { stageError } from '../errors.ts'
import { fieldsOf, integerOf } from '../operators/operator.ts'
import { constantOf } from './constants.ts'
import type { FramedFunction, FunctionContext, WindowFunction } from './window-function.ts'

/** @throws PetalError FailedToParse */
export function requireSort({ name, place, sort }: FunctionContext): CompiledSort {
  if (sort !== undefined) return sort
  throw stageError('FailedToParse', place, `${name} needs a sortBy`)
}

/** @throws PetalError FailedToParse unless documents are sorted by exactly one field */
export function requireSingleSort(context: FunctionContext): CompiledSort & { readonly path: string } {
  const sort = requireSort(context)
  const [field, ...others] = sort.keys
  if (field !== undefined && others.length === 0) return { ...sort, path: field.path }
  throw stageError(
    'FailedToParse',
    context.place,
    `${context.name} needs a sortBy of one field, not ${sort.keys.length}`
  )
}

/** @throws PetalError FailedToParse unless it is {} */
export function checkEmpty(argument: unknown, { name, place }: FunctionContext): void {
  if (isPlainObject(argument) && Object.keys(argument).length === 0) return
  throw stageError('FailedToParse', place, `${name} takes {}, not ${describeType(argument)}`)
}

/** `$rank $denseRank $documentNumber`: documents with equal keys share a rank, with or without a gap after them. */
export function compileRank(argument: unknown, context: FunctionContext): WindowFunction {
  const { name } = context
  checkEmpty(argument, context)
  const { compareKeys } = requireSingleSort(context)
  if (name === '$documentNumber') return () => ({ value: (position) => position + 1 })
  return ({ keys }) => {
    let rank = 0
    return {
      value(position) {
        const [key, before] = [keys[position], keys[position - 1]]
        const isTied = key !== undefined && before !== undefined && compareKeys(before, key) === 0
        if (!isTied) rank = name === '$rank' ? position + 1 : rank + 1
        return rank
      }
    }
  }
}

/** `$shift`: the value of the document a fixed number of positions away. */
export function compileShift(argument: unknown, context: FunctionContext): WindowFunction {
  requireSort(context)
  const { name, compiler } = context
  const fields = fieldsOf(argument, name, ['output', 'by'], ['default'])
  const by = integerOf(fields.by, `${name}: by`)
  const otherwise = constantOf(fields.default ?? null, `${name}: default`, context) ?? null
  const output = compiler.compile(fields.output)
  return ({ documents }) => ({
    value(position) {
      const document = documents[position + by]
      const value = document === undefined ? undefined : output(document)
      return value === undefined ? otherwise : value
    }
  })
}

/** `$first $last`: the value of a single document of the window. */
export function compileFirstLast(argument: unknown, { name, compiler }: FunctionContext): FramedFunction {
  const value = compiler.compile(argument)
  return ({ documents }) => ({
    value({ from, to }) {
      if (from === to) return null
      return value(documents[name === '$first' ? from : to - 1] as Document) ?? null
    }
  })
}
