/** Copies the results of stages, which share values that they do not change, for whoever asked for them. */
import { cloneDocument, cloneValue } from '../../model/clone.ts'
import type { Document } from '../../model/types.ts'
import type { Control } from '../read/control.ts'
import { type Documents, pauseIfDue, transform } from './slices.ts'

/** Arrays with more elements are copied in steps: that of a `$facet` or a `$push` may have all documents. */
const maxAtOnce = 256

export function copyDocuments(source: Documents, control: Control): Documents {
  return transform(source, function* (slice) {
    const copies: Document[] = []
    for (const document of slice) {
      copies.push(hasLong(document) ? yield* copyInSteps(document, control) : cloneDocument(document))
      yield* pauseIfDue(control)
    }
    yield copies
  })
}

/** As cloneDocument(), pausing between the elements of long arrays. */
function* copyInSteps(document: Document, control: Control): Generator<Promise<unknown>, Document> {
  const long = Object.keys(document).filter((key) => isLong(document[key]))
  // Empty arrays keep the places of their keys.
  const copy = cloneDocument({ ...document, ...Object.fromEntries(long.map((key) => [key, []])) })
  for (const key of long) {
    const elements: unknown[] = []
    for (const element of document[key] as readonly unknown[]) {
      elements.push(cloneValue(element ?? null, 2))
      yield* pauseIfDue(control)
    }
    copy[key] = elements
  }
  return copy
}

/** Asked of every result: makes no list of its keys. */
function hasLong(document: Document): boolean {
  for (const key in document) if (isLong(document[key])) return true
  return false
}

function isLong(value: unknown): boolean {
  return Array.isArray(value) && value.length > maxAtOnce
}
