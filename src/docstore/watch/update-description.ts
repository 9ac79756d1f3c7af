/**
 * Describes what an update changed, by comparing the documents before and after it.
 *
 * Invariants:
 * 1. Applying the removals, truncations and assignments to the document before yields the document after, apart from the
 *    order of top-level fields: those that have moved are assigned although their values are the same.
 * 2. Top-level keys are reported as they are; below them, a path is unambiguous: nothing is reported individually below
 *    a key that contains a dot, starts with `$`, is empty or is all digits, but as part of the enclosing object.
 * 3. Values are copies.
 */
import { cloneValue, isIdentical } from '../../model/clone.ts'
import { isDigits } from '../../model/path.ts'
import { type Document, isPlainObject } from '../../model/types.ts'

/** What an update changed, as in the events of change streams. */
export interface UpdateDescription {
  /** New values by dotted path; an all-digit component is an array position. */
  updatedFields: Document
  removedFields: string[]
  /** Arrays that were shortened, with their remaining elements unchanged or listed in `updatedFields`. */
  truncatedArrays: { field: string; newSize: number }[]
}

export function describeUpdate(before: Document, after: Document): UpdateDescription {
  const description: UpdateDescription = { updatedFields: {}, removedFields: [], truncatedArrays: [] }
  describeObject('', before, after, description)
  return description
}

function describeObject(prefix: string, before: Document, after: Document, into: UpdateDescription): void {
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) into.removedFields.push(prefix + key)
  const keys = Object.keys(after)
  const kept = keptKeys(before, after)
  let unmoved = 0
  while (unmoved < kept.length && kept[unmoved] === keys[unmoved]) unmoved++
  for (const [i, key] of keys.entries()) {
    const path = prefix + key
    const isUnmoved = i < unmoved
    if (isUnmoved && isPlainKey(key)) describeValue(path, before[key], after[key], into)
    else if (!isUnmoved || !isIdentical(before[key], after[key])) into.updatedFields[path] = cloneValue(after[key])
  }
}

/** Keys of both, in the order of the first. */
function keptKeys(before: Document, after: Document): string[] {
  return Object.keys(before).filter((key) => Object.hasOwn(after, key))
}

function describeValue(path: string, before: unknown, after: unknown, into: UpdateDescription): void {
  if (isIdentical(before, after)) return
  if (isPlainObject(before) && isPlainObject(after) && canDescribeByField(before, after)) {
    describeObject(`${path}.`, before, after, into)
  } else if (Array.isArray(before) && Array.isArray(after) && canDescribeByElement(before, after)) {
    if (after.length < before.length) into.truncatedArrays.push({ field: path, newSize: after.length })
    for (let i = 0; i < after.length; i++) {
      const element = `${path}.${i}`
      if (i < before.length) describeValue(element, before[i], after[i], into)
      else into.updatedFields[element] = cloneValue(after[i])
    }
  } else into.updatedFields[path] = cloneValue(after)
}

/** Whether setting and removing individual fields yields the same key order. */
function canDescribeByField(before: Document, after: Document): boolean {
  const keys = Object.keys(after)
  return (
    [...Object.keys(before), ...keys].every(isPlainKey) && keptKeys(before, after).every((key, i) => key === keys[i])
  )
}

/**
 * Whether most elements stayed the same. An insertion at the front moves all others; then the whole array is the
 * shorter description.
 */
function canDescribeByElement(before: readonly unknown[], after: readonly unknown[]): boolean {
  let changed = 0
  for (let i = 0; i < after.length; i++) if (i >= before.length || !isIdentical(before[i], after[i])) changed++
  return changed <= after.length / 2
}

/** Whether the key stands for itself in a dotted path. */
function isPlainKey(key: string): boolean {
  return key !== '' && !key.includes('.') && !key.startsWith('$') && !isDigits(key)
}
