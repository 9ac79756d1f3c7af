/** `$unwind`: outputs a document for each element of an array, one by one. */
import { type Document, isPlainObject } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { checkKeys, pathOf } from './arguments.ts'
import { type StagePlace, stageError } from './errors.ts'
import { ownValueAt } from './field-path.ts'
import { withNestedField } from './nested-field.ts'
import { withValueAt } from './set-path.ts'

export function compileUnwind(spec: unknown, place: StagePlace): (document: Document) => Iterable<Document> {
  const { path, includeArrayIndex, preserveNullAndEmptyArrays = false } = isPlainObject(spec) ? spec : { path: spec }
  if (isPlainObject(spec)) checkKeys(spec, ['path', 'includeArrayIndex', 'preserveNullAndEmptyArrays'], place)
  if (typeof path !== 'string' || !path.startsWith('$')) {
    const found = typeof path === 'string' ? `'${path}'` : describeType(path)
    throw stageError('BadValue', place, `the path must be a string that begins with '$', not ${found}`)
  }
  if (typeof preserveNullAndEmptyArrays !== 'boolean') {
    throw stageError('BadValue', place, 'preserveNullAndEmptyArrays must be true or false')
  }
  const components = pathOf(path.slice(1), place)
  const indexPath = includeArrayIndex === undefined ? undefined : pathOf(includeArrayIndex, place)
  const withIndex = (document: Document, index: number | null): Document =>
    indexPath === undefined ? document : withNestedField(document, indexPath, index)

  return function* (document) {
    const value = ownValueAt(document, components)
    if (Array.isArray(value) && value.length > 0) {
      for (const [i, element] of value.entries()) {
        yield withIndex(withValueAt(document, components, element ?? null, undefined), i)
      }
      return
    }
    const isEmpty = value === undefined || value === null || Array.isArray(value)
    if (!isEmpty) {
      yield withIndex(document, null)
    } else if (preserveNullAndEmptyArrays) {
      const kept = Array.isArray(value) ? withValueAt(document, components, undefined, undefined) : document
      yield withIndex(kept, null)
    }
  }
}
