/** `$documents`: literal documents in place of a collection. */
import { type Document, isPlainObject } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { type StagePlace, stageError } from './errors.ts'
import type { Expressions } from './expression.ts'

/** @returns a function that returns the documents; it throws BadValue unless they are objects */
export function compileDocuments(
  spec: unknown,
  place: StagePlace,
  expressions: Expressions
): () => readonly Document[] {
  const value = expressions.compile(spec, place)
  return () => {
    const documents = value({})
    if (!Array.isArray(documents)) {
      throw stageError('BadValue', place, `the argument must be an array of objects, not ${describeType(documents)}`)
    }
    const other = documents.findIndex((document) => !isPlainObject(document))
    if (other < 0) return documents as readonly Document[]
    throw stageError(
      'BadValue',
      place,
      `the argument must be an array of objects, but element ${other} is of type ${describeType(documents[other])}`
    )
  }
}
