/** The update operators by name. `$rename`, the only one with two places, is in rename.ts. */
import { compileBit, compileInc, compileMax, compileMin, compileMul } from './arithmetic.ts'
import { compileAddToSet, compilePop, compilePush } from './arrays.ts'
import { compileCurrentDate, compileSet, compileUnset } from './fields.ts'
import { compilePull, compilePullAll } from './pull.ts'
import type { OperatorCompiler } from './types.ts'

export const operators: ReadonlyMap<string, OperatorCompiler> = new Map<string, OperatorCompiler>([
  ['$set', compileSet],
  ['$setOnInsert', compileSet],
  ['$unset', compileUnset],
  ['$currentDate', compileCurrentDate],
  ['$inc', compileInc],
  ['$mul', compileMul],
  ['$min', compileMin],
  ['$max', compileMax],
  ['$bit', compileBit],
  ['$push', compilePush],
  ['$addToSet', compileAddToSet],
  ['$pop', compilePop],
  ['$pull', compilePull],
  ['$pullAll', compilePullAll]
])

/** Operators that do nothing for a path that ends at a scalar. */
export const tolerantOperators: ReadonlySet<string> = new Set(['$unset'])

export const insertOnlyOperators: ReadonlySet<string> = new Set(['$setOnInsert'])
