/**
 * Which leading stages are one read: a filter, an order, a range of it, a projection or a count, with the meaning they have as
 * stages. Pure policy: the read is run by the document store, through its index.
 *
 * Invariants:
 * 1. The read gives what the stages would give, document by document.
 * 2. A filter joins it only before anything was skipped, cut off or projected; a sort only before that, and once.
 */
import { type Document, isPlainObject } from '../model/types.ts'
import { fieldName, wholeNumber } from './arguments.ts'
import type { StagePlace } from './errors.ts'
import type { ParsedStage } from './parse.ts'
import { isPlainProjection, unsetProjection } from './reshape.ts'
import type { LeadingRead } from './stage.ts'

interface Split {
  readonly read: Omit<LeadingRead, 'compiledFilter'>
  readonly rest: readonly ParsedStage[]
}

interface Draft {
  filters: unknown[]
  sort: unknown
  skip: number
  limit: number
  projection: Document | undefined
  count: LeadingRead['count']
  places: StagePlace[]
}

export function splitLeading(stages: readonly ParsedStage[]): Split {
  const draft: Draft = {
    filters: [],
    sort: undefined,
    skip: 0,
    limit: Number.POSITIVE_INFINITY,
    projection: undefined,
    count: undefined,
    places: []
  }
  let taken = 0
  for (const stage of stages) {
    if (draft.count !== undefined || !take(draft, stage)) break
    draft.places.push(stage.place)
    taken++
  }
  const { filters, ...read } = draft
  const filter = filters.length === 0 ? undefined : filters.length === 1 ? filters[0] : { $and: filters }
  return { read: { ...read, filter }, rest: stages.slice(taken) }
}

/** False when the stage is not part of the read. */
function take(draft: Draft, { place, spec }: ParsedStage): boolean {
  const isWhole = draft.skip === 0 && draft.limit === Number.POSITIVE_INFINITY && draft.projection === undefined
  switch (place.stage) {
    case '$match':
      if (isWhole) draft.filters.push(spec)
      return isWhole
    case '$sort':
      // What is malformed is told of by the stage.
      if (!isWhole || draft.sort !== undefined || !isPlainObject(spec) || Object.keys(spec).length === 0) return false
      draft.sort = spec
      return true
    case '$skip': {
      const skip = wholeNumber(spec, place, 0)
      // Nothing would be left, and a read has no limit of 0.
      if (skip >= draft.limit) return false
      draft.skip += skip
      draft.limit -= skip
      return true
    }
    case '$limit':
      draft.limit = Math.min(draft.limit, wholeNumber(spec, place, 1))
      return true
    case '$project':
      if (draft.projection !== undefined || !isPlainObject(spec) || Object.keys(spec).length === 0) return false
      if (!isPlainProjection(spec)) return false
      draft.projection = spec
      return true
    case '$unset':
      if (draft.projection !== undefined) return false
      draft.projection = unsetProjection(spec, place)
      return true
    case '$count': {
      const field = fieldName(spec, place)
      draft.count = (count) => ({ [field]: count })
      return true
    }
    case '$group':
      draft.count = countingGroup(spec)
      return draft.count !== undefined
    default:
      return false
  }
}

/** `{ _id: null, n: { $sum: 1 } }` is a count. */
function countingGroup(spec: unknown): LeadingRead['count'] {
  if (!isPlainObject(spec) || spec._id !== null) return undefined
  const [field, ...others] = Object.keys(spec).filter((key) => key !== '_id')
  if (field === undefined || others.length > 0 || /[.$]|^$|^__proto__$/.test(field)) return undefined
  const counted = spec[field]
  if (!isPlainObject(counted) || Object.keys(counted).length !== 1 || counted.$sum !== 1) return undefined
  return (count) => ({ _id: null, [field]: count })
}
