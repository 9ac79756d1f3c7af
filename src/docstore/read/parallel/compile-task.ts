/** Compiles what another thread is asked to do. */
import { compilePipeline } from '../../../aggregate/compile.ts'
import { DividedStages } from '../../../aggregate/divide.ts'
import type { Document } from '../../../model/types.ts'
import { parseCollation } from '../../../query/collation.ts'
import type { CompiledFilter } from '../../../query/filter.ts'
import { compileSort } from '../../../query/sort.ts'
import { compileRead } from '../../aggregate/sources.ts'
import { expressionsOf, FindExpressions } from '../expressions.ts'
import { FieldsRead, usesNone } from '../fields-read.ts'
import { collecting, type Decider, finding } from './decider.ts'
import type { PortableRead, PortableTask } from './messages.ts'
import { unpack } from './portable.ts'

interface CompiledTask {
  readonly filter: CompiledFilter
  readonly fields: FieldsRead
  readonly begin: ConstructorParameters<typeof Decider>[2]
}

type Task<Kind> = Extract<PortableTask, { readonly kind: Kind }>

export function compileTask({ task, ...scope }: PortableRead): Promise<CompiledTask> {
  return task.kind === 'find' ? compileFindTask(task, scope) : compileCollectTask(task, scope)
}

type Scope = Omit<PortableRead, 'task'>

async function compileFindTask(task: Task<'find'>, { collation, constants, now }: Scope): Promise<CompiledTask> {
  const order = parseCollation(collation)
  const expressions = new FindExpressions({ let: unpack(constants) as Document }, order, now)
  const filter = expressions.filter(unpack(task.filter))
  const keys = task.first?.sort.map(({ path, direction }) => [path, direction])
  const sort = compileSort(keys, order)
  await expressions.prepare?.()
  const begin = finding(task.first && { sort, wanted: task.first.wanted })
  return { filter, fields: new FieldsRead(filter, sort, usesNone), begin }
}

async function compileCollectTask(task: Task<'collect'>, { collation, constants, now }: Scope): Promise<CompiledTask> {
  const expressions = expressionsOf({ let: unpack(constants) as Document }, parseCollation(collation), now)
  const { read, stages, divisible } = compilePipeline(unpack(task.pipeline), expressions)
  if (read === undefined || divisible === undefined) throw new Error('The pipeline cannot be divided')
  const { filter, sort, project } = compileRead(read, { ...(collation && { collation }) })
  if (expressions.needsLoading) await expressions.load()
  const until = stages.slice(0, divisible.collector + 1)
  const begin = collecting(() => new DividedStages(until), project)
  return { filter, fields: new FieldsRead(filter, sort, read.used), begin }
}
