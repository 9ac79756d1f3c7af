/**
 * Restricts pipelines with a collation to stages that compare no values, and to `$match` and `$sort`, which respect it.
 * All others compare by code point, and are rejected because their results would differ from MongoDB's.
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

/** Expression operators that compare values. */
const comparing: ReadonlySet<string> = new Set([
  ...['$cmp', '$eq', '$gt', '$gte', '$lt', '$lte', '$ne'],
  ...['$in', '$indexOfArray', '$max', '$maxN', '$min', '$minN', '$sortArray'],
  ...['$setDifference', '$setEquals', '$setIntersection', '$setIsSubset', '$setUnion']
])

/** @throws PetalError CommandNotSupported */
export function assertStagesSupportCollation(parsed: readonly ParsedStage[]): void {
  const other = parsed.find(({ place }) => !stages.has(place.stage))
  if (other !== undefined) throw collationUnsupported(other.place, 'the stage')
}

/** @throws PetalError CommandNotSupported */
export function assertOperatorSupportsCollation(name: string, place: Place): void {
  if (comparing.has(name)) throw collationUnsupported(place, name)
}

function collationUnsupported(place: Place, what: string): PetalError {
  return stageError('CommandNotSupported', place, `${what} compares by code point and cannot be used with a collation`)
}
