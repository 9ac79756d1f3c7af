/** Describes reads to other threads. */
import type { Expressions } from '../../../aggregate/expression.ts'
import { cloneValue, isIdentical } from '../../../model/clone.ts'
import type { Collation } from '../../../query/collation.ts'
import type { CompiledFilter } from '../../../query/filter.ts'
import type { First } from './decider.ts'
import type { PortableRead, PortableTask } from './messages.ts'
import { isSmall, type Portable, portable, unpack } from './portable.ts'

/** Values of a filter or a pipeline: copying them for each thread takes this one some milliseconds. */
const maxValues = 2000

/** What decides which documents a find matches. */
export interface Deciding {
  readonly filter: CompiledFilter
  readonly collation: Collation | undefined
  /** Those of the filter, or of the pipeline, if there are any. */
  readonly expressions: Expressions | undefined
}

/**
 * @param task undefined if it cannot be described
 * @returns undefined for a read that calls functions of the caller, has many values or some that lose their class, or whose
 *   filter was not compiled from an object
 */
export function portableRead(
  { collation, expressions }: Deciding,
  task: PortableTask | undefined,
  remainingMilliseconds?: number
): PortableRead | undefined {
  if (task === undefined) return undefined
  const constants = copyOf(expressions?.constants ?? {})
  if (constants === undefined) return undefined
  return { task, collation, constants, now: expressions?.now ?? new Date(), remainingMilliseconds }
}

export function findTask(find: CompiledFilter, first: First | undefined): PortableTask | undefined {
  const filter = copyOfFilter(find)
  return filter && { kind: 'find', filter, first: first && { sort: first.sort.keys, wanted: first.wanted } }
}

/** @param path its components */
export function distinctTask(find: CompiledFilter, path: readonly string[]): PortableTask | undefined {
  const filter = copyOfFilter(find)
  return filter && { kind: 'distinct', filter, path }
}

/** @param pipeline as DivisibleStages has it */
export function collectTask(pipeline: readonly object[]): PortableTask | undefined {
  const stages = copyOf(pipeline)
  return stages && { kind: 'collect', pipeline: stages }
}

function copyOfFilter({ source, hasCallback }: CompiledFilter): Portable | undefined {
  return source && !hasCallback ? copyOf(source) : undefined
}

function copyOf(value: unknown): Portable | undefined {
  if (!isSmall(value, maxValues)) return undefined
  const plain = cloneValue(value)
  const copy = portable(plain)
  // A BSONRegExp that would be a RegExp, for example, could be among the results.
  return copy && isIdentical(unpack(structuredClone(copy)), plain) ? copy : undefined
}
