/** `$graphLookup`: compiles where a search starts, how it connects documents, and how far it goes. */
import { isPlainObject } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { compileNormalForm } from '../query/filter.ts'
import { checkKeys, objectOf, pathOf, wholeNumber } from './arguments.ts'
import { type StagePlace, stageError } from './errors.ts'
import type { Expressions } from './expression.ts'
import { collectionOf } from './foreign.ts'
import { compileNarrowing } from './match.ts'
import type { GraphSearch } from './stage.ts'

const required = ['from', 'startWith', 'connectFromField', 'connectToField', 'as']
const optional = ['maxDepth', 'depthField', 'restrictSearchWithMatch']

export function compileGraphLookup(spec: unknown, place: StagePlace, expressions: Expressions): GraphSearch {
  const search = objectOf(spec, place)
  checkKeys(search, [...required, ...optional], place)
  const missing = required.find((key) => search[key] === undefined)
  if (missing !== undefined) throw stageError('FailedToParse', place, `${missing} is required`)
  const { from, startWith, connectFromField, connectToField, as, maxDepth, depthField } = search
  const { restrictSearchWithMatch: restriction } = search
  if (restriction !== undefined && !isPlainObject(restriction)) {
    const problem = `restrictSearchWithMatch takes a filter, not ${describeType(restriction)}`
    throw stageError('BadValue', place, problem)
  }
  return {
    collection: collectionOf(from, place),
    start: expressions.compile(startWith, place),
    from: pathOf(connectFromField, place).join('.'),
    to: pathOf(connectToField, place).join('.'),
    as: pathOf(as, place),
    maxDepth: maxDepth === undefined ? Number.POSITIVE_INFINITY : wholeNumber(maxDepth, place, 0, 'maxDepth'),
    depth: depthField === undefined ? undefined : pathOf(depthField, place),
    narrowed: restriction === undefined ? compileNormalForm : compileNarrowing(restriction, place, expressions)
  }
}
