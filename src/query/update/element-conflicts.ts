/**
 * Detects conflicts between element changes: `a.$[x]` and `a.$[y]` conflict if both filters match one of the document's
 * elements.
 */
import { childOf } from '../../model/path.ts'
import type { Document } from '../../model/types.ts'
import { conflict, type PathStep, type UpdatePath } from './path.ts'
import type { UpdatePlace } from './types.ts'

type IsFiltered = (identifier: string, element: unknown) => boolean

/** A path and its operator. */
export interface ElementPlace {
  readonly operator: string
  readonly path: UpdatePath
}

export class ElementConflicts {
  readonly #pairs: readonly (readonly [ElementPlace, ElementPlace])[]
  readonly #isFiltered: IsFiltered

  /** @throws PetalError ConflictingUpdateOperators if one path leads to elements and another to a field or position */
  constructor(places: readonly ElementPlace[], isFiltered: IsFiltered) {
    this.#isFiltered = isFiltered
    const ofElements = places.filter(({ path }) => path.steps.some(selectsElements))
    if (ofElements.length > 0) assertNotMixed(places)
    this.#pairs = pairsThatMayOverlap(ofElements)
  }

  /** @throws PetalError ConflictingUpdateOperators */
  check(document: Document): void {
    for (const [a, b] of this.#pairs) {
      const met = this.#findOverlap(document, a.path.steps, b.path.steps, 0)
      if (met !== undefined) throw conflict(placeOf(b), met.join('.'))
    }
  }

  /** Returns where two paths that may meet do meet. */
  #findOverlap(value: unknown, a: readonly PathStep[], b: readonly PathStep[], at: number): string[] | undefined {
    const [x, y] = [a[at], b[at]]
    if (x === undefined || y === undefined) return []
    if (x.kind === 'field') {
      const below = this.#findOverlap(childOf(value, x.name), a, b, at + 1)
      return below && [x.name, ...below]
    }
    if (!Array.isArray(value)) return undefined
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i] ?? null
      if (!this.#selects(x, element) || !this.#selects(y, element)) continue
      const below = this.#findOverlap(element, a, b, at + 1)
      if (below !== undefined) return [String(i), ...below]
    }
    return undefined
  }

  #selects(step: PathStep, element: unknown): boolean {
    return step.kind !== 'filtered' || this.#isFiltered(step.identifier, element)
  }
}

function selectsElements(step: PathStep | undefined): boolean {
  return step?.kind === 'every' || step?.kind === 'filtered'
}

/** Steps that paths begin with, and the first path that goes on to elements, and to a field or position. */
interface Junction {
  readonly next: Map<string, Junction>
  toElements: ElementPlace | undefined
  toField: ElementPlace | undefined
}

/** Checks that no two paths go on from the same place in both ways. */
function assertNotMixed(places: readonly ElementPlace[]): void {
  const root: Junction = { next: new Map(), toElements: undefined, toField: undefined }
  for (const place of places) {
    const components = place.path.text.split('.')
    let junction = root
    for (const [at, step] of place.path.steps.entries()) {
      if (selectsElements(step)) junction.toElements ??= place
      else junction.toField ??= place
      const { toElements, toField } = junction
      if (toElements !== undefined && toField !== undefined)
        throw conflict(placeOf(toElements), components.slice(0, at).join('.'))
      const component = components[at]!
      let next = junction.next.get(component)
      if (next === undefined) {
        next = { next: new Map(), toElements: undefined, toField: undefined }
        junction.next.set(component, next)
      }
      junction = next
    }
  }
}

/** Pairs of paths, in order, that are equal up to the end of the shorter one, except for which elements they select. */
function pairsThatMayOverlap(places: readonly ElementPlace[]): (readonly [ElementPlace, ElementPlace])[] {
  const shapes = places.map(({ path }, i) => path.steps.map((step) => shapeOf(step, i)))
  const byShape = new Map<string, number[]>()
  for (const [i, shape] of shapes.entries()) {
    const text = shape.join('.')
    const others = byShape.get(text)
    if (others === undefined) byShape.set(text, [i])
    else others.push(i)
  }
  const pairs: (readonly [number, number])[] = []
  for (const [i, shape] of shapes.entries()) {
    for (let length = 1; length <= shape.length; length++) {
      for (const other of byShape.get(shape.slice(0, length).join('.')) ?? []) {
        // Two paths of the same shape meet twice.
        if (other !== i && (length < shape.length || other < i)) pairs.push([Math.min(i, other), Math.max(i, other)])
      }
    }
  }
  pairs.sort(([a, b], [c, d]) => a - c || b - d)
  return pairs.map(([i, j]) => [places[i]!, places[j]!])
}

/** The same for all steps that select elements. What `$` stands for is not known yet: it is like no other step. */
function shapeOf(step: PathStep, place: number): string {
  if (step.kind === 'field') return step.name
  return selectsElements(step) ? '$[]' : `$${place}`
}

function placeOf({ operator, path }: ElementPlace): UpdatePlace {
  return { operator, path: path.text }
}
