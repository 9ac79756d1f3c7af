/**
 * Decides an OR of many branches by looking up those whose equality on one path the document satisfies.
 *
 * `{ $or: [{ user: 1, day: 5 }, { user: 2, day: 7 }, …] }` is how a list of compound keys is asked for. Testing branch
 * after branch takes time proportional to their number for every document; of the branches found by the document's
 * values on the path, usually one is left.
 *
 * Soundness: an equality holds if some value on the path equals its value, and equal values share a primitive
 * (value-set.ts). So a branch that matches is found by some value on the path; those found are then tested as a whole.
 */
import type { Document } from '../model/types.ts'
import type { Condition, Filter, QueryPath } from './ast.ts'
import { someValue } from './path-values.ts'
import { primitiveOf } from './value-set.ts'

type Decision = (document: Document) => boolean

/** Testing fewer branches one by one is as fast. */
const minBranches = 16

interface Equality {
  readonly path: QueryPath
  /** The primitive that all equal values share. */
  readonly primitive: string | number | boolean | null
}

/**
 * @param decisions of the branches, in their order
 * @returns undefined when there are few branches, or few that require an equality on one path
 */
export function compileBranchLookup(branches: readonly Filter[], decisions: readonly Decision[]): Decision | undefined {
  if (branches.length < minBranches) return undefined
  const equalities = branches.map(equalitiesOf)
  const path = mostFrequentPath(equalities)
  if (path === undefined) return undefined
  const byValue = new Map<unknown, Decision[]>()
  const others: Decision[] = []
  for (const [i, decision] of decisions.entries()) {
    const equality = equalities[i]!.find((each) => each.path.text === path.text)
    const known = equality && byValue.get(equality.primitive)
    if (equality === undefined) others.push(decision)
    else if (known === undefined) byValue.set(equality.primitive, [decision])
    else known.push(decision)
  }
  if (others.length > branches.length / 2) return undefined
  let current: Document | undefined
  const holds = (decision: Decision): boolean => decision(current!)
  const isFound = someValue(path, 'elements', (value) => byValue.get(primitiveOf(value))?.some(holds) === true)
  return (document) => {
    // A caller's function in a branch may use the same filter.
    const outer = current
    current = document
    try {
      return isFound(document) || others.some(holds)
    } finally {
      current = outer
    }
  }
}

/** Equalities without which the branch does not match. */
function equalitiesOf(branch: Filter): readonly Equality[] {
  if (branch.kind === 'and') return branch.children.flatMap(equalitiesOf)
  return branch.kind === 'leaf' ? equalityOf(branch.leaf) : []
}

function equalityOf(condition: Condition): readonly Equality[] {
  if (condition.kind !== 'field' || condition.predicate.kind !== 'equal') return []
  const primitive = primitiveOf(condition.predicate.value)
  return primitive === undefined ? [] : [{ path: condition.path, primitive }]
}

/** The path with the most different values. */
function mostFrequentPath(equalities: readonly (readonly Equality[])[]): QueryPath | undefined {
  const values = new Map<string, Set<unknown>>()
  let most: QueryPath | undefined
  let mostValues = 0
  for (const { path, primitive } of equalities.flat()) {
    const onPath = values.get(path.text) ?? new Set()
    values.set(path.text, onPath.add(primitive))
    if (onPath.size <= mostValues) continue
    most = path
    mostValues = onPath.size
  }
  return most
}
