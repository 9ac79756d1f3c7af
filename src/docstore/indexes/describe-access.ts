/** Describes the access to a declared index, for explain(). */
import type { PlanStage } from '../read/explain.ts'
import type { IndexAccess } from './choose-access.ts'
import { keyPattern } from './definition.ts'

export function describeAccess(access: IndexAccess): PlanStage {
  const { index, ranges, reverse, isExact } = access
  const { definition, arrays } = index
  const { unique, sparse, name, fields } = definition
  return {
    stage: 'IXSCAN',
    indexName: name,
    keyPattern: keyPattern(definition),
    isMultiKey: arrays !== 0,
    isUnique: unique,
    isSparse: sparse,
    direction: reverse ? 'backward' : 'forward',
    boundFields: fields.slice(0, access.boundFields).map(({ path }) => path),
    ranges: ranges.length,
    isExact
  }
}
