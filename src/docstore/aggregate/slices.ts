/** Processes slices of documents, yielding to the event loop. */
import type { Document } from '../../model/types.ts'
import type { Control } from '../read/control.ts'
import type { Steps } from '../read/steps.ts'

/** Slices of documents, and promises wherever they have to be awaited. */
export type Documents = Steps<readonly Document[]>

type Pauses = Generator<Promise<unknown>, void, unknown>

const sliceDocuments = 256

export function* noDocuments(): Documents {}

/** Replaces each slice by the result of `replace`. Ends the source when it is ended itself. */
export function* transform(source: Documents, replace: (slice: readonly Document[]) => Documents): Documents {
  try {
    for (let step = source.next(); step.done !== true; ) {
      if (step.value instanceof Promise) {
        step = source.next(yield step.value)
      } else {
        yield* replace(step.value)
        step = source.next()
      }
    }
  } finally {
    source.return()
  }
}

/** Visits every document. */
export function* visitEach(source: Documents, control: Control, visit: (document: Document) => void): Pauses {
  try {
    for (let step = source.next(); step.done !== true; ) {
      if (step.value instanceof Promise) {
        step = source.next(yield step.value)
        continue
      }
      for (const document of step.value) {
        visit(document)
        yield* pauseIfDue(control)
      }
      step = source.next()
    }
  } finally {
    source.return()
  }
}

/** Groups documents into slices; undefined marks a point where the work may be paused. */
export function* toSlices(documents: Iterable<Document | undefined>, control: Control): Documents {
  let slice: Document[] = []
  for (const document of documents) {
    if (document !== undefined) slice.push(document)
    if (slice.length >= sliceDocuments) {
      yield slice
      slice = []
    }
    yield* pauseIfDue(control)
  }
  if (slice.length > 0) yield slice
}

/** Must be called after each document. Throws if the work was aborted. */
export function pauseIfDue(control: Control): Iterable<Promise<unknown>> {
  return control.countDocument() && control.checkClock() ? [control.pause()] : noPause
}

const noPause: readonly Promise<unknown>[] = []
