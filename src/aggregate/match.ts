/** Compiles the filters of stages. */
import type { Filter } from '../query/ast.ts'
import { type CompiledFilter, compileFilter, type FilterOptions, narrowedBy } from '../query/filter.ts'
import { type StagePlace, withStage } from './errors.ts'
import type { Expressions } from './expression.ts'

export function compileMatch(spec: unknown, place: StagePlace, expressions: Expressions): CompiledFilter {
  return withStage(place, () => compileFilter(spec, optionsOf(place, expressions)))
}

/** Returns a function that combines filters with this one, whose expressions are compiled only once. */
export function compileNarrowing(
  spec: unknown,
  place: StagePlace,
  expressions: Expressions
): (filter: Filter) => CompiledFilter {
  return withStage(place, () => narrowedBy(spec, optionsOf(place, expressions)))
}

function optionsOf(place: StagePlace, expressions: Expressions): FilterOptions {
  return { expression: (expression) => expressions.condition(expression, place), order: expressions.order }
}
