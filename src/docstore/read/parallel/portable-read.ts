/** Describes reads to other threads. */
import type { Expressions } from '../../../aggregate/expression.ts'
import type { Collation } from '../../../query/collation.ts'
import type { CompiledFilter } from '../../../query/filter.ts'
import type { First } from './decider.ts'
import type { PortableRead, PortableTask } from './messages.ts'
import { portable } from './portable.ts'

/** What decides which documents a find matches. */
export interface Deciding {
  readonly filter: CompiledFilter
  readonly collation: Collation | undefined
  /** Those of the filter, or of the pipeline, if there are any. */
  readonly expressions: Expressions | undefined
}

/**
 * @param task a filter, or a pipeline up to a collector
 * @returns undefined for a read that calls functions of the caller, or whose filter was not compiled from an object
 */
export function portableRead(
  { collation, expressions }: Deciding,
  task: PortableTask | undefined
): PortableRead | undefined {
  const constants = portable(expressions?.constants ?? {})
  if (task === undefined || constants === undefined) return undefined
  return { task, collation, constants, now: expressions?.now ?? new Date() }
}

export function findTask({ source, hasCallback }: CompiledFilter, first: First | undefined): PortableTask | undefined {
  const filter = source && portable(source)
  if (filter === undefined || hasCallback) return undefined
  return { kind: 'find', filter, first: first && { sort: first.sort.keys, wanted: first.wanted } }
}

/** @param pipeline as DivisibleStages has it */
export function collectTask(pipeline: readonly object[]): PortableTask | undefined {
  const stages = portable(pipeline)
  return stages && { kind: 'collect', pipeline: stages }
}
