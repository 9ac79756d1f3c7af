/** Proposes queries for documents of which only paths and values are known. */
import type { Filter } from '../../src/index.ts'
import { isAskable, type PathFacts, type Scalar } from './path-census.ts'

export interface Proposal {
  readonly why: string
  readonly filter: Filter
}

/** A path with a value that selects a part of the documents. */
interface Fact {
  readonly path: string
  readonly value: Scalar
  readonly documents: number
}

export function proposeQueries(all: readonly PathFacts[], documents: number): readonly Proposal[] {
  const paths = all.filter(({ path }) => path !== '_id' && isAskable(path))
  const facts = paths.flatMap((path) => factsOf(path, documents))
  const [rare, rareToo] = onePerPath(nearest(facts, documents / 100))
  const rest = facts.filter(({ path }) => path !== rare?.path && path !== rareToo?.path)
  const [common, other] = onePerPath(nearest(rest, documents / 4))
  const sparse = paths.find((path) => path.documents <= documents / 10)
  const numeric = paths.find(
    ({ types, distinct, isTruncated }) => types[0] === 'number' && distinct > 20 && !isTruncated
  )
  const high = numeric === undefined ? undefined : quantile(numeric, 0.9)

  const proposals: Proposal[] = []
  if (rare !== undefined) proposals.push({ why: 'a rare value', filter: { [rare.path]: rare.value } })
  if (common !== undefined && other !== undefined) {
    const { path, value } = other
    proposals.push(
      { why: 'two common values together', filter: { [common.path]: common.value, [path]: value } },
      { why: 'one without the other', filter: { [common.path]: common.value, [path]: { $ne: value } } }
    )
  }
  if (rare !== undefined && rareToo !== undefined && common !== undefined) {
    const either = [{ [rare.path]: rare.value }, { [rareToo.path]: rareToo.value }]
    proposals.push({ why: 'either of two, within a third', filter: { $or: either, [common.path]: common.value } })
  }
  if (sparse !== undefined) {
    proposals.push({ why: 'an optional field', filter: { [sparse.path]: { $exists: true } } })
  }
  if (numeric !== undefined && high !== undefined && rare !== undefined) {
    const filter = { [numeric.path]: { $gte: high }, [rare.path]: rare.value }
    proposals.push({ why: 'high numbers, within a rare value', filter })
  }
  return proposals
}

/** Excludes numbers, which make poor equality queries. */
function factsOf({ path, values }: PathFacts, documents: number): readonly Fact[] {
  return values
    .filter(([value, count]) => typeof value !== 'number' && value !== null && count < documents * 0.9)
    .slice(0, 200)
    .map(([value, count]) => ({ path, value, documents: count }))
}

function nearest(facts: readonly Fact[], documents: number): readonly Fact[] {
  return [...facts].sort((a, b) => Math.abs(a.documents - documents) - Math.abs(b.documents - documents))
}

/** Returns the first fact in the list for each path. */
function onePerPath(facts: readonly Fact[]): readonly Fact[] {
  const seen = new Set<string>()
  return facts.filter(({ path }) => !seen.has(path) && seen.add(path))
}

function quantile({ values }: PathFacts, share: number): number | undefined {
  const numbers = values
    .map(([value]) => value)
    .filter((value): value is number => typeof value === 'number')
    .sort((a, b) => a - b)
  return numbers[Math.floor(numbers.length * share)]
}
