/**
 * Resolves positional steps: `$` is the first element that the query matched, `$[identifier]` those an array filter
 * matches.
 */
import type { StringOrder } from '../../model/compare.ts'
import { positionOf } from '../../model/path.ts'
import { type Document, isPlainObject } from '../../model/types.ts'
import { describeType, filterError } from '../errors.ts'
import { compileFilter } from '../filter.ts'
import { isOperatorObject, isRegex } from '../parse-operators.ts'
import { editAt } from './edit.ts'
import type { PathStep, UpdatePath } from './path.ts'
import type { UpdatePlace } from './types.ts'

type DocumentTest = (document: Document) => boolean

/** One condition of a filter on one path. */
interface Clause {
  readonly path: string
  /** True for a negation: any element may satisfy it, so it selects none by itself. */
  readonly isNegative: boolean
  /** Tests a document whose array contains only the element. */
  readonly matches: DocumentTest
  /** The test for a condition on the array's own path: it applies to the element, not to an array containing only it. */
  readonly matchesElement: DocumentTest
}

const negative: ReadonlySet<string> = new Set(['$ne', '$nin', '$not'])
const noOptions = { operator: '$', ignoresBlockedPath: true, isFiltered: () => false }

/**
 * Resolves the positional `$` in updates and projections: the first element that satisfies all of the query's
 * conditions on the array or, if there is none, the first that satisfies any of them.
 */
export class MatchedPositions {
  readonly #filter: unknown
  readonly #order: StringOrder | undefined
  #clauses: readonly Clause[] | undefined

  /** @param order of strings, if the filter does not compare by code point */
  constructor(filter: unknown, order?: StringOrder) {
    this.#filter = filter
    this.#order = order
  }

  /**
   * Reduces the first array on the path to that element; without an array the document is returned as it is.
   * @throws PetalError BadValue when the query has no condition on an element of the array
   */
  withElementAlone(document: Document, components: readonly string[]): Document {
    const at = depthOfArray(document, components)
    if (at === undefined) return document
    const arrayPath = pathOf(components.slice(0, at))
    const index = this.#indexOf(document, arrayPath)
    if (index === undefined) {
      const place = { operator: '$', path: [...components, '$'].join('.') }
      throw filterError('BadValue', place, 'the positional projection did not find a matching element in the array')
    }
    return editAt(document, arrayPath, (array) => [(array as readonly unknown[])[index]], noOptions)
  }

  /**
   * Replaces `$` in a path by a position. @throws PetalError BadValue when no condition of the query is on an element
   */
  resolve(document: Document, path: UpdatePath, operator: string): UpdatePath {
    const at = path.steps.findIndex(({ kind }) => kind === 'matched')
    if (at < 0) return path
    const components = path.text.split('.')
    const prefix = components.slice(0, at)
    const index = this.#indexOf(document, { text: prefix.join('.'), steps: path.steps.slice(0, at) })
    if (index === undefined) {
      const problem = "the positional operator '$' did not find the match needed from the query"
      throw filterError('BadValue', { operator, path: path.text }, problem)
    }
    const position: PathStep = { kind: 'field', name: String(index) }
    return {
      text: [...prefix, String(index), ...components.slice(at + 1)].join('.'),
      steps: path.steps.map((step, i) => (i === at ? position : step))
    }
  }

  #indexOf(document: Document, arrayPath: UpdatePath): number | undefined {
    this.#clauses ??= clausesOf(this.#filter, this.#order)
    const { text } = arrayPath
    const ofArray = this.#clauses.filter(({ path }) => path === text || path.startsWith(`${text}.`))
    if (ofArray.every(({ isNegative }) => isNegative)) return undefined
    const around = surroundings(document, arrayPath)
    let array: readonly unknown[] = []
    const having = (value: unknown): Document => editAt(around, arrayPath, () => value, noOptions)
    editAt(
      around,
      arrayPath,
      (current) => {
        if (Array.isArray(current)) array = current
        return current
      },
      noOptions
    )
    const candidates = array.map((element): ((clause: Clause) => boolean) => {
      let whole: Document | undefined
      return ({ path, matches, matchesElement }) => {
        whole ??= having([element ?? null])
        const alone = whole
        if (path === text) return matchesElement(alone)
        if (!beginsWithPosition(path.slice(text.length + 1))) return matches(alone)
        // Digits select an element only as a key of it: as a position, they do not say which element matched.
        return isPlainObject(element) && matches(having(element))
      }
    })
    // Conditions that no element satisfies are satisfied by the array as a whole.
    const clauses = ofArray.filter((clause) => candidates.some((satisfies) => satisfies(clause)))
    const positive = clauses.filter(({ isNegative }) => !isNegative)
    if (positive.length === 0) return undefined
    const index = candidates.findIndex((satisfies) => clauses.every(satisfies))
    return index >= 0 ? index : candidates.findIndex((satisfies) => satisfies(positive.at(-1) as Clause))
  }
}

/**
 * The document, but only what leads to the array: conditions on the array look at nothing else, and what leads to it is
 * copied for each element.
 */
function surroundings(document: Document, { steps }: UpdatePath): Document {
  const result: Document = {}
  let copy = result
  let value = document
  for (const step of steps) {
    if (step.kind !== 'field' || !Object.hasOwn(value, step.name)) break
    const next = value[step.name]
    // An array on the way is kept whole: its elements, too, may have the rest of the path.
    if (!isPlainObject(next)) {
      copy[step.name] = next
      break
    }
    const below: Document = {}
    copy[step.name] = below
    copy = below
    value = next
  }
  return result
}

function beginsWithPosition(path: string): boolean {
  return positionOf(path.split('.', 1)[0] as string) !== undefined
}

/** Number of components that lead to an array; undefined when none is reached. */
function depthOfArray(document: Document, components: readonly string[]): number | undefined {
  let value: unknown = document
  for (let at = 0; at <= components.length; at++) {
    if (Array.isArray(value)) return at
    if (!isPlainObject(value)) return undefined
    value = Object.hasOwn(value, components[at] ?? '') ? value[components[at] as string] : undefined
  }
  return undefined
}

function pathOf(components: readonly string[]): UpdatePath {
  return { text: components.join('.'), steps: components.map((name) => ({ kind: 'field', name })) }
}

function clausesOf(filter: unknown, order: StringOrder | undefined): Clause[] {
  if (!isPlainObject(filter)) return []
  return Object.entries(filter).flatMap(([path, condition]) => {
    if ((path === '$and' || path === '$or') && Array.isArray(condition)) {
      const clauses = condition.flatMap((part: unknown) => clausesOf(part, order))
      return path === '$and' ? clauses : alternativesOf(clauses)
    }
    return path.startsWith('$') ? [] : conditionsOf(condition).map((each) => clauseOf(path, each, order))
  })
}

/** Combines alternatives into one clause per path, like an `$in`. */
function alternativesOf(clauses: readonly Clause[]): Clause[] {
  return [...new Set(clauses.map(({ path }) => path))].map((path) => {
    const ofPath = clauses.filter((clause) => clause.path === path)
    return {
      path,
      isNegative: ofPath.every(({ isNegative }) => isNegative),
      matches: (document) => ofPath.some(({ matches }) => matches(document)),
      matchesElement: (document) => ofPath.some(({ matchesElement }) => matchesElement(document))
    }
  })
}

function clauseOf(path: string, condition: unknown, order: StringOrder | undefined): Clause {
  const [operator] = isOperatorObject(condition) ? Object.keys(condition) : []
  const compile = (each: unknown): DocumentTest => compileFilter({ [path]: each }, { order }).matches
  const matches = compile(condition)
  const isNegative = operator !== undefined && negative.has(operator)
  // These apply to arrays as they are.
  if (isNegative || operator === '$elemMatch') return { path, isNegative, matches, matchesElement: matches }
  if (operator === '$exists') return { path, isNegative, matches, matchesElement: () => false }
  const ofElement = operator !== undefined ? condition : { [isRegex(condition) ? '$regex' : '$eq']: condition }
  return { path, isNegative, matches, matchesElement: compile({ $elemMatch: ofElement }) }
}

/**
 * Splits operators, each of which may be satisfied by a different element; drops `$size`, which is about no element.
 */
function conditionsOf(condition: unknown): readonly unknown[] {
  if (!isOperatorObject(condition)) return [condition]
  const { $options } = condition
  return Object.entries(condition).flatMap(([operator, argument]): readonly unknown[] => {
    switch (operator) {
      case '$options':
      case '$size':
        return []
      case '$regex':
        return [$options === undefined ? { $regex: argument } : { $regex: argument, $options }]
      case '$all':
        return Array.isArray(argument) ? argument : []
      default:
        return [{ [operator]: argument }]
    }
  })
}

/** The option `arrayFilters`, by identifier. */
export class ArrayFilters {
  readonly #tests = new Map<string, DocumentTest>()
  readonly #used = new Set<string>()
  readonly #order: StringOrder | undefined

  /** @param order of strings @throws PetalError FailedToParse, BadValue, TypeMismatch */
  constructor(filters: unknown, order?: StringOrder) {
    this.#order = order
    if (filters === undefined) return
    if (!Array.isArray(filters)) {
      throw filterError(
        'TypeMismatch',
        { operator: 'arrayFilters', path: '' },
        `takes an array, not ${describeType(filters)}`
      )
    }
    for (const filter of filters) this.#add(filter)
  }

  readonly matches = (identifier: string, element: unknown): boolean =>
    this.#tests.get(identifier)?.({ [identifier]: element }) === true

  /** Checks that every identifier in the path has a filter. @throws PetalError BadValue */
  use(path: UpdatePath, operator: string): void {
    for (const step of path.steps) {
      if (step.kind !== 'filtered') continue
      if (!this.#tests.has(step.identifier)) {
        const place: UpdatePlace = { operator, path: path.text }
        throw filterError('BadValue', place, `no array filter found for identifier '${step.identifier}'`)
      }
      this.#used.add(step.identifier)
    }
  }

  /** @throws PetalError FailedToParse for a filter that no path uses, which suggests a misspelling */
  checkAllUsed(): void {
    for (const identifier of this.#tests.keys()) {
      if (this.#used.has(identifier)) continue
      const place = { operator: 'arrayFilters', path: identifier }
      throw filterError('FailedToParse', place, 'the array filter was not used in the update')
    }
  }

  #add(filter: unknown): void {
    const { matches } = compileFilter(filter, { order: this.#order })
    const identifiers = new Set(identifiersOf(filter))
    const [identifier] = identifiers
    const place = { operator: 'arrayFilters', path: identifier ?? '' }
    if (identifier === undefined) throw filterError('FailedToParse', place, 'an array filter must use an identifier')
    if (identifiers.size > 1) {
      const names = [...identifiers].join("', '")
      throw filterError('FailedToParse', place, `an array filter must use a single identifier, not '${names}'`)
    }
    if (!/^[a-z][a-zA-Z0-9]*$/.test(identifier)) {
      throw filterError('BadValue', place, 'an identifier must begin with a lowercase letter and be alphanumeric')
    }
    if (this.#tests.has(identifier)) throw filterError('FailedToParse', place, 'two array filters use this identifier')
    this.#tests.set(identifier, matches)
  }
}

function identifiersOf(filter: unknown): string[] {
  if (!isPlainObject(filter)) return []
  return Object.entries(filter).flatMap(([key, value]) => {
    if (!key.startsWith('$')) return [key.split('.')[0] ?? key]
    return Array.isArray(value) ? value.flatMap(identifiersOf) : []
  })
}
