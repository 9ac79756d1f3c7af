/** Compiles what another thread is asked to do. */
import { compilePipeline } from '../../../aggregate/compile.ts'
import { DividedStages } from '../../../aggregate/divide.ts'
import type { Limits } from '../../../aggregate/loop-guard.ts'
import type { Document } from '../../../model/types.ts'
import { parseCollation } from '../../../query/collation.ts'
import type { CompiledFilter } from '../../../query/filter.ts'
import { compileSort, noSort } from '../../../query/sort.ts'
import { compileRead } from '../../aggregate/sources.ts'
import { DistinctValues, newValues } from '../distinct-values.ts'
import { expressionsOf, FindExpressions } from '../expressions.ts'
import { FieldsRead, usesNone } from '../fields-read.ts'
import { collecting, type Decider, finding } from './decider.ts'
import type { PortableRead, PortableTask } from './messages.ts'
import { type Portable, unpack } from './portable.ts'

interface CompiledTask {
  readonly filter: CompiledFilter
  readonly fields: FieldsRead
  readonly begin: ConstructorParameters<typeof Decider>[2]
}

type Task<Kind> = Extract<PortableTask, { readonly kind: Kind }>

/** @param limits of the scan */
export function compileTask({ task, ...read }: PortableRead, limits: Limits): Promise<CompiledTask> {
  const scope = { ...read, limits }
  switch (task.kind) {
    case 'find':
      return compileFindTask(task, scope)
    case 'collect':
      return compileCollectTask(task, scope)
    case 'distinct':
      return compileDistinctTask(task, scope)
  }
}

interface Scope extends Omit<PortableRead, 'task'> {
  readonly limits: Limits
}

async function compileFindTask(task: Task<'find'>, scope: Scope): Promise<CompiledTask> {
  const filter = await compileFilter(task.filter, scope)
  const keys = task.first?.sort.map(({ path, direction }) => [path, direction])
  const sort = compileSort(keys, parseCollation(scope.collation))
  const begin = finding(task.first && { sort, wanted: task.first.wanted })
  return { filter, fields: new FieldsRead(filter, sort, usesNone), begin }
}

async function compileDistinctTask({ filter: source, path }: Task<'distinct'>, scope: Scope): Promise<CompiledTask> {
  const filter = await compileFilter(source, scope)
  const values = new DistinctValues(path, parseCollation(scope.collation))
  const fields = new FieldsRead(filter, noSort, new Set([path.join('.')]))
  // Parts come in order: what an earlier one had need not be told again.
  return { filter, fields, begin: collecting(() => newValues(values)) }
}

async function compileFilter(source: Portable, { collation, constants, now, limits }: Scope): Promise<CompiledFilter> {
  const variables = { let: unpack(constants) as Document }
  const expressions = new FindExpressions(variables, parseCollation(collation), now)
  const filter = expressions.filter(unpack(source))
  expressions.expressions?.loops.obey(limits)
  await expressions.prepare?.()
  return filter
}

async function compileCollectTask(task: Task<'collect'>, scope: Scope): Promise<CompiledTask> {
  const { collation, constants, now, limits } = scope
  const expressions = expressionsOf({ let: unpack(constants) as Document }, parseCollation(collation), now)
  expressions.loops.obey(limits)
  const { read, stages, divisible } = compilePipeline(unpack(task.pipeline), expressions)
  if (read === undefined || divisible === undefined) throw new Error('The pipeline cannot be divided')
  const { filter, sort, project } = compileRead(read, { ...(collation && { collation }) })
  if (expressions.needsLoading) await expressions.load()
  const until = stages.slice(0, divisible.collector + 1)
  const begin = collecting(() => new DividedStages(until, project))
  return { filter, fields: new FieldsRead(filter, sort, read.used), begin }
}
