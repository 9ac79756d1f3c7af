/**
 * Runs stages over documents: stages that need only one document at a time stream, the others collect.
 *
 * Invariants:
 * 1. A stage never changes a document it was given, because it may be shared.
 * 2. A stage that needs no more documents ends its source.
 */
import { evaluationError, type StagePlace } from '../../aggregate/errors.ts'
import { stageBudget } from '../../aggregate/group.ts'
import type { Collector, Stage } from '../../aggregate/stage.ts'
import { PetalError } from '../../model/errors.ts'
import { estimateBytes } from '../../model/memory-budget.ts'
import type { Document } from '../../model/types.ts'
import type { Control } from '../read/control.ts'
import { runGraphLookup } from './graph-lookup.ts'
import { foreignDocuments, runLookup } from './lookup.ts'
import { type Documents, pauseIfDue, toSlices, transform, visitEach } from './slices.ts'
import type { StageContext } from './stage-context.ts'

export function runStages(source: Documents, stages: readonly Stage[], context: StageContext): Documents {
  return stages.reduce((input, stage) => countOutput(runStage(input, stage, context), stage, context), source)
}

function runStage(source: Documents, stage: Stage, context: StageContext): Documents {
  const { control } = context
  switch (stage.kind) {
    case 'documents':
      source.return()
      return generate(stage.make, control)
    case 'each':
      return transform(source, (slice) => each(slice, stage.apply, control))
    case 'expand':
      return transform(source, (slice) => toSlices(expandEach(slice, stage.apply), control))
    case 'skip':
      return skipping(source, stage.count)
    case 'limit':
      return limiting(source, stage.count)
    case 'collect':
      return collecting(source, stage.place, stage.begin(), control)
    case 'facet':
      return facets(source, stage, context)
    case 'lookup':
      return runLookup(source, stage.place, stage.lookup, context)
    case 'graphLookup':
      return runGraphLookup(source, stage.place, stage.search, context)
    case 'union':
      return union(source, foreignDocuments(stage.from, context))
  }
}

/** Creates the documents when the first are requested, since variables are known by then. */
function* generate(make: () => readonly Document[], control: Control): Documents {
  yield* toSlices(make(), control)
}

function* each(
  slice: readonly Document[],
  apply: (document: Document) => Document | undefined,
  control: Control
): Documents {
  const results: Document[] = []
  for (const document of slice) {
    const result = apply(document)
    if (result !== undefined) results.push(result)
    yield* pauseIfDue(control)
  }
  if (results.length > 0) yield results
}

function* expandEach(
  slice: readonly Document[],
  apply: (document: Document) => Iterable<Document>
): Iterable<Document> {
  for (const document of slice) yield* apply(document)
}

function skipping(source: Documents, count: number): Documents {
  let toSkip = count
  return transform(source, function* (slice) {
    const rest = slice.slice(toSkip)
    toSkip -= slice.length - rest.length
    if (rest.length > 0) yield rest
  })
}

function* limiting(source: Documents, count: number): Documents {
  let remaining = count
  try {
    for (let step = source.next(); step.done !== true; ) {
      if (step.value instanceof Promise) {
        step = source.next(yield step.value)
        continue
      }
      const slice = step.value.slice(0, remaining)
      remaining -= slice.length
      yield slice
      if (remaining === 0) return
      step = source.next()
    }
  } finally {
    source.return()
  }
}

function* collecting(source: Documents, place: StagePlace, collector: Collector, control: Control): Documents {
  yield* visitEach(source, control, (document) => {
    try {
      collector.add(document)
    } catch (error) {
      throw collectingError(place, error)
    }
  })
  yield* toSlices(collector.results(), control)
}

/** Names the stage that came upon a value it cannot hold; a budget names it itself. */
function collectingError(place: StagePlace, error: unknown): unknown {
  return error instanceof PetalError && error.codeName === 'BadValue' ? evaluationError(place, error) : error
}

function* facets(source: Documents, stage: Stage & { readonly kind: 'facet' }, context: StageContext): Documents {
  const budget = stageBudget(stage.place)
  const hold = (list: Document[]) => (document: Document) => {
    try {
      budget.change(estimateBytes(document))
    } catch (error) {
      throw collectingError(stage.place, error)
    }
    list.push(document)
  }
  const input: Document[] = []
  yield* visitEach(source, context.control, hold(input))
  const result: Document = {}
  for (const { name, stages } of stage.facets) {
    const output: Document[] = []
    yield* visitEach(runStages(toSlices(input, context.control), stages, context), context.control, hold(output))
    result[name] = output
  }
  yield [result]
}

function* union(first: Documents, second: Documents): Documents {
  yield* first
  yield* second
}

function countOutput(source: Documents, stage: Stage, { tally }: StageContext): Documents {
  if (tally === undefined) return source
  return transform(source, function* (slice) {
    tally(stage, slice.length)
    yield slice
  })
}
