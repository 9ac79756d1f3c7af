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
      const long = Object.keys(document).filter((key) => isLong(document[key]))
      copies.push(long.length === 0 ? cloneDocument(document) : yield* copyInSteps(document, long, control))
      yield* pauseIfDue(control)
    }
    yield copies
  })
}

/** @param long the keys of its long arrays */
function* copyInSteps(
  document: Document,
  long: readonly string[],
  control: Control
): Generator<Promise<unknown>, Document> {
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

function isLong(value: unknown): boolean {
  return Array.isArray(value) && value.length > maxAtOnce
}
