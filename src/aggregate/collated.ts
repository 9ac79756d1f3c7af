/**
 * What of a pipeline may stand beside a collation: what compares no values, and `$match` and `$sort`, which compare by it. The rest
 * compares by code point, and is refused: it would give another result than MongoDB's.
 */
import type { PetalError } from '../model/errors.ts'
import { type Place, stageError } from './errors.ts'
import type { ParsedStage } from './parse.ts'

const stages: ReadonlySet<string> = new Set([
  '$addFields',
  '$count',
  '$documents',
  '$facet',
  '$limit',
  '$match',
  '$out',
  '$project',
  '$redact',
  '$replaceRoot',
  '$replaceWith',
  '$sample',
  '$set',
  '$skip',
  '$sort',
  '$unset',
  '$unwind'
])

/** Operators of expressions that compare. */
const comparing: ReadonlySet<string> = new Set([
  ...['$cmp', '$eq', '$gt', '$gte', '$lt', '$lte', '$ne'],
  ...['$in', '$indexOfArray', '$max', '$maxN', '$min', '$minN', '$sortArray'],
  ...['$setDifference', '$setEquals', '$setIntersection', '$setIsSubset', '$setUnion']
])

/** @throws PetalError CommandNotSupported */
export function assertStagesCollated(parsed: readonly ParsedStage[]): void {
  const other = parsed.find(({ place }) => !stages.has(place.stage))
  if (other !== undefined) throw withoutCollation(other.place, 'it')
}

/** @throws PetalError CommandNotSupported */
export function assertOperatorCollated(name: string, place: Place): void {
  if (comparing.has(name)) throw withoutCollation(place, name)
}

function withoutCollation(place: Place, what: string): PetalError {
  return stageError('CommandNotSupported', place, `${what} compares by code point, and cannot be beside a collation`)
}
