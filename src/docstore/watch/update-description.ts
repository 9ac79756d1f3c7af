/**
 * What an update did to a document, told from the document before and after it.
 *
 * Invariants:
 * 1. Removing, truncating and setting what is told makes the document before into the one after.
 * 2. Below the document's own keys, which are told as they are, a path means one place: below a key that holds a dot, begins
 *    with `$`, is empty or is all digits nothing is told by itself; the object around it is.
 * 3. Values are copies.
 */
import { cloneValue, isIdentical } from '../../model/clone.ts'
import { isDigits } from '../../model/path.ts'
import { type Document, isPlainObject } from '../../model/types.ts'

export interface UpdateDescription {
  /** New values by dotted path; a component of digits is a position in an array. */
  updatedFields: Document
  removedFields: string[]
  /** Arrays that became shorter and kept the elements that are left. */
  truncatedArrays: { field: string; newSize: number }[]
}

export function describeUpdate(before: Document, after: Document): UpdateDescription {
  const description: UpdateDescription = { updatedFields: {}, removedFields: [], truncatedArrays: [] }
  describeObject('', before, after, description)
  return description
}

function describeObject(prefix: string, before: Document, after: Document, into: UpdateDescription): void {
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) into.removedFields.push(prefix + key)
  for (const key of Object.keys(after)) {
    const path = prefix + key
    if (Object.hasOwn(before, key) && isPlainKey(key)) describeValue(path, before[key], after[key], into)
    else if (!isIdentical(before[key], after[key])) into.updatedFields[path] = cloneValue(after[key])
  }
}

function describeValue(path: string, before: unknown, after: unknown, into: UpdateDescription): void {
  if (isIdentical(before, after)) return
  if (isPlainObject(before) && isPlainObject(after) && isToldByField(before, after)) {
    describeObject(`${path}.`, before, after, into)
  } else if (Array.isArray(before) && Array.isArray(after) && isToldByElement(before, after)) {
    if (after.length < before.length) into.truncatedArrays.push({ field: path, newSize: after.length })
    for (let i = 0; i < after.length; i++) {
      const element = `${path}.${i}`
      if (i < before.length) describeValue(element, before[i], after[i], into)
      else into.updatedFields[element] = cloneValue(after[i])
    }
  } else into.updatedFields[path] = cloneValue(after)
}

/** Whether setting and removing single fields ends in the same order of keys. */
function isToldByField(before: Document, after: Document): boolean {
  const keys = Object.keys(after)
  const kept = Object.keys(before).filter((key) => Object.hasOwn(after, key))
  return [...Object.keys(before), ...keys].every(isPlainKey) && kept.every((key, i) => key === keys[i])
}

/** Most elements stayed: what is inserted in front moves all others, and the whole array says so in fewer words. */
function isToldByElement(before: readonly unknown[], after: readonly unknown[]): boolean {
  let changed = 0
  for (let i = 0; i < after.length; i++) if (i >= before.length || !isIdentical(before[i], after[i])) changed++
  return changed <= after.length / 2
}

/** In a dotted path it stands for itself. */
function isPlainKey(key: string): boolean {
  return key !== '' && !key.includes('.') && !key.startsWith('$') && !isDigits(key)
}
