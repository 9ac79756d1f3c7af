/** Describes finds to other threads. */
import type { Expressions } from '../../../aggregate/expression.ts'
import type { Collation } from '../../../query/collation.ts'
import type { CompiledFilter } from '../../../query/filter.ts'
import type { CompiledSort } from '../../../query/sort.ts'
import type { PortableFind } from './messages.ts'
import { portable } from './portable.ts'

/** What decides which documents a find matches, and in which order. */
export interface Deciding {
  readonly filter: CompiledFilter
  readonly sort: CompiledSort
  readonly collation: Collation | undefined
  /** Those of the filter, if it has any. */
  readonly expressions: Expressions | undefined
}

/** Returns undefined for a find that calls functions of the caller, or whose filter was not compiled from an object. */
export function portableFind({ filter, sort, collation, expressions }: Deciding): PortableFind | undefined {
  const { source } = filter
  if (source === undefined || filter.hasCallback) return undefined
  return {
    filter: portable(source),
    sort: sort.keys,
    collation,
    constants: portable(expressions?.constants ?? {}),
    now: expressions?.now ?? new Date()
  }
}
