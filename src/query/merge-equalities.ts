/**
 * Merges sibling equalities on one path into one set, so that a value is looked up once, however many there are.
 *
 * | terms                                | become           | because                                                |
 * | ------------------------------------ | ---------------- | ------------------------------------------------------ |
 * | `{ a: x }` OR `{ a: { $in: y } }`    | `$in` x and y    | some value is x, or some value is in y                 |
 * | `{ a: { $ne: x } }` AND `{ a: { $nin: y } }` | `$nin` x and y | there is no value that is x, and none that is in y |
 *
 * `{ a: x }` AND `{ a: y }` are not merged: in an array, different elements may satisfy them.
 */
import { allOf, type Condition, type Filter, leaf, negate, type Predicate, type QueryPath } from './ast.ts'

export function mergeEqualities(filter: Filter): Filter {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return mergeChildren(filter.kind, filter.children.map(mergeEqualities))
    case 'not':
      return negate(mergeEqualities(filter.child))
    case 'never':
      return filter
    case 'leaf':
      return leaf(mergeInside(filter.leaf))
  }
}

function mergeInside(condition: Condition): Condition {
  if (condition.kind !== 'field' || condition.predicate.kind !== 'elemMatchObject') return condition
  const { predicate } = condition
  return { ...condition, predicate: { ...predicate, filter: mergeEqualities(predicate.filter) } }
}

type Connective = 'and' | 'or'

interface Equality {
  readonly path: QueryPath
  readonly predicate: Extract<Predicate, { readonly kind: 'equal' | 'in' }>
}

/** Puts each set in the place of its first term. */
function mergeChildren(kind: Connective, children: readonly Filter[]): Filter {
  const groups: { readonly first: Filter; readonly equalities: Equality[] }[] = []
  const byPath = new Map<string, Equality[]>()
  for (const child of flat(kind, children)) {
    const equality = equalityOf(kind, child)
    const known = equality && byPath.get(equality.path.text)
    if (equality !== undefined && known !== undefined) {
      known.push(equality)
      continue
    }
    const equalities = equality === undefined ? [] : [equality]
    if (equality !== undefined) byPath.set(equality.path.text, equalities)
    groups.push({ first: child, equalities })
  }
  const merged = groups.map(({ first, equalities }) => (equalities.length < 2 ? first : union(kind, equalities)))
  return kind === 'and' || merged.length === 1 ? allOf(merged) : { kind, children: merged }
}

/** Flattens ORs within an OR, and ANDs within an AND. */
function flat(kind: Connective, children: readonly Filter[]): readonly Filter[] {
  return children.flatMap((child) => (child.kind === kind ? child.children : [child]))
}

/** Returns the term if it may be merged under the connective, otherwise undefined. */
function equalityOf(kind: Connective, child: Filter): Equality | undefined {
  const term = kind === 'or' ? child : child.kind === 'not' ? child.child : undefined
  if (term?.kind !== 'leaf' || term.leaf.kind !== 'field') return undefined
  const { path, predicate } = term.leaf
  return predicate.kind === 'equal' || predicate.kind === 'in' ? { path, predicate } : undefined
}

/** REQUIRES: at least one equality, all on one path. */
function union(kind: Connective, equalities: readonly Equality[]): Filter {
  const values = equalities.flatMap(({ predicate }) => (predicate.kind === 'in' ? predicate.values : [predicate.value]))
  const patterns = equalities.flatMap(({ predicate }) => (predicate.kind === 'in' ? predicate.patterns : []))
  const member: Filter = leaf({
    kind: 'field',
    path: (equalities[0] as Equality).path,
    predicate: { kind: 'in', values, patterns }
  })
  return kind === 'or' ? member : negate(member)
}
