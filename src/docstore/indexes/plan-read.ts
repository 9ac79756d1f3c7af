/** Chooses which declared indexes a find may use. */
import { PetalError } from '../../model/errors.ts'
import type { CompiledFilter } from '../../query/filter.ts'
import type { SortField } from '../../query/sort.ts'
import type { CompiledFind } from '../read/find.ts'
import type { FindSource } from '../read/find-source.ts'
import { chooseAccess, forceAccess } from './choose-access.ts'
import { showSpec } from './errors.ts'
import type { IndexRead } from './read-by-index.ts'

/**
 * Must run synchronously with the capture of the view, so that what is known about an index holds for the view.
 * @throws PetalError BadValue for a hint that names no index, or one that may not contain every match
 */
export function declaredRead({ declared, state }: FindSource, find: CompiledFind): IndexRead | undefined {
  const { hint } = find
  if (hint === 'scan' || hint === 'index') return undefined
  // Entries order strings by code point.
  const order = find.sort.isCollated ? [] : find.sort.keys
  const ids = hint === undefined && isAboutIds(find.filter, order) ? declared.ids : undefined
  if (hint === undefined && ((declared.isEmpty && ids === undefined) || find.plan.kind === 'ids')) return undefined
  const constraints = find.filter.constraints()
  const base = { store: declared.store, documents: state.documents }
  if (hint === undefined) {
    const choice = chooseAccess(ids === undefined ? declared.ready : [...declared.ready, ids], constraints, order)
    return choice && { ...base, choice }
  }
  const index = declared.findReadable(hint)
  if (index === undefined) throw badHint(hint, 'there is no such index')
  const choice = forceAccess(index, constraints, order)
  if (choice === undefined) throw badHint(hint, 'it is sparse and may not contain every match')
  return { ...base, choice }
}

function isAboutIds({ namesId }: CompiledFilter, order: readonly SortField[]): boolean {
  return namesId || order[0]?.path === '_id'
}

function badHint(hint: unknown, why: string): PetalError {
  return new PetalError('BadValue', `The index ${showSpec(hint)} specified by hint cannot be used: ${why}`, {
    details: { option: 'hint' }
  })
}
