/**
 * Determines which leading stages can be merged into one read: a filter, an order, a range of it, a projection, a
 * count, in total or per value of a path, or a random sample, with the semantics they have as stages. Pure policy: the
 * document store runs the read, using its index.
 *
 * Invariants:
 * 1. The read returns exactly the documents that the stages would.
 * 2. A filter is merged only before anything was skipped, limited or projected; a sort only before that, and only once.
 */
import { splitPath } from '../model/path.ts'
import { type Document, isPlainObject } from '../model/types.ts'
import { pathsOfProjection } from '../query/filter-paths.ts'
import { countField, sampleSize, wholeNumber } from './arguments.ts'
import { Sample } from './collectors.ts'
import type { StagePlace } from './errors.ts'
import type { ParsedStage } from './parse.ts'
import { isPlainProjection, unsetProjection } from './reshape.ts'
import type { LeadingRead, SampleRead, TallyRead, UncompiledRead } from './stage.ts'
import { pathsUsedBy } from './used-paths.ts'

interface Split {
  readonly read: UncompiledRead
  readonly rest: readonly ParsedStage[]
}

interface Draft {
  filters: unknown[]
  sort: unknown
  skip: number
  limit: number
  projection: Document | undefined
  count: LeadingRead['count']
  tally: TallyRead | undefined
  sample: SampleRead | undefined
  places: StagePlace[]
}

/** A read of all documents. */
export const fullRead = {
  sort: undefined,
  skip: 0,
  limit: Number.POSITIVE_INFINITY,
  projection: undefined,
  count: undefined,
  tally: undefined,
  sample: undefined,
  used: undefined
} as const

export function splitLeading(stages: readonly ParsedStage[]): Split {
  const draft: Draft = { ...fullRead, filters: [], places: [] }
  let rest = stages
  for (const stage of stages) {
    if (isComplete(draft) || !take(draft, stage)) break
    draft.places.push(stage.place)
    rest = stage.place.stage === '$sortByCount' ? [sortByCount(stage), ...rest.slice(1)] : rest.slice(1)
  }
  const { filters, ...read } = draft
  const filter = filters.length === 0 ? undefined : filters.length === 1 ? filters[0] : { $and: filters }
  return { read: { ...read, filter, used: pathsUsed(draft, rest) }, rest }
}

function pathsUsed({ count, tally, projection }: Draft, rest: readonly ParsedStage[]): LeadingRead['used'] {
  if (count !== undefined) return new Set()
  if (tally !== undefined) return new Set([tally.path.join('.')])
  return projection === undefined ? pathsUsedBy(rest) : pathsOfProjection(projection)
}

/** Whether the read yields something else than its matches in order, so that no more stages can be merged. */
function isComplete({ count, tally, sample }: Draft): boolean {
  return count !== undefined || tally !== undefined || sample !== undefined
}

/** Returns false if the stage is not part of the read. */
function take(draft: Draft, { place, spec }: ParsedStage): boolean {
  const isWhole = draft.skip === 0 && draft.limit === Number.POSITIVE_INFINITY && draft.projection === undefined
  // With another sort order, groups would come in another order.
  const isTallied = isWhole && draft.sort === undefined
  switch (place.stage) {
    case '$match':
      if (isWhole) draft.filters.push(spec)
      return isWhole
    case '$sort':
      // Malformed sorts are reported by the stage itself.
      if (!isWhole || draft.sort !== undefined || !isPlainObject(spec) || Object.keys(spec).length === 0) return false
      draft.sort = spec
      return true
    case '$skip': {
      const skip = wholeNumber(spec, place, 0)
      // Nothing would be left, and a read cannot have a limit of 0.
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
      const field = countField(spec, place)
      draft.count = (count) => ({ [field]: count })
      return true
    }
    case '$group':
      draft.count = countingGroup(spec)
      if (draft.count === undefined && isTallied) draft.tally = tallyingGroup(spec, place)
      return draft.count !== undefined || draft.tally !== undefined
    case '$sample': {
      if (!isWhole || draft.sort !== undefined) return false
      const size = sampleSize(spec, place)
      draft.sample = { size, begin: () => new Sample(size, place) }
      return true
    }
    case '$sortByCount':
      if (isTallied) draft.tally = tallyOf(spec, place, ['count'])
      return draft.tally !== undefined
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

/** `{ _id: '$lang', n: { $sum: 1 } }` counts the documents of each value. */
function tallyingGroup(spec: unknown, place: StagePlace): TallyRead | undefined {
  if (!isPlainObject(spec)) return undefined
  const { _id, ...fields } = spec
  const names = Object.keys(fields)
  const isCounted = names.every((name) => !/[.$]|^$|^__proto__$/.test(name) && isCounter(fields[name]))
  return isCounted ? tallyOf(_id, place, names) : undefined
}

function tallyOf(path: unknown, place: StagePlace, names: readonly string[]): TallyRead | undefined {
  if (typeof path !== 'string' || !/^\$[^$.\0]+(\.[^$.\0]+)*$/.test(path)) return undefined
  const document = (id: unknown, count: number): Document => ({
    _id: id,
    ...Object.fromEntries(names.map((name) => [name, count]))
  })
  return { place, path: splitPath(path.slice(1)), document }
}

function isCounter(accumulator: unknown): boolean {
  if (!isPlainObject(accumulator) || Object.keys(accumulator).length !== 1) return false
  const { $sum, $count } = accumulator
  return $sum === 1 || (isPlainObject($count) && Object.keys($count).length === 0)
}

/** Returns the sort that `$sortByCount` applies to its groups. */
function sortByCount({ place }: ParsedStage): ParsedStage {
  return { place: { ...place, stage: '$sort' }, spec: { count: -1 } }
}
