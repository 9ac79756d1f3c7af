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
    for (const place of ofElements) for (const other of places) assertNotMixed(place, other)
    this.#pairs = ofElements.flatMap((place, i) =>
      ofElements.slice(i + 1).flatMap((other) => (mayOverlap(place.path, other.path) ? [[place, other] as const] : []))
    )
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

function assertNotMixed(place: ElementPlace, other: ElementPlace): void {
  const [a, b] = [place.path.text.split('.'), other.path.text.split('.')]
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const [x, y] = [place.path.steps[at], other.path.steps[at]]
  if (x === undefined || y === undefined || selectsElements(x) === selectsElements(y)) return
  throw conflict(placeOf(place), a.slice(0, at).join('.'))
}

/** Whether they are equal up to the end of the shorter one, except for which elements they select. */
function mayOverlap(a: UpdatePath, b: UpdatePath): boolean {
  const length = Math.min(a.steps.length, b.steps.length)
  return a.steps.slice(0, length).every((step, i) => {
    const other = b.steps[i]
    if (step.kind === 'field') return other?.kind === 'field' && step.name === other.name
    return selectsElements(step) && selectsElements(other)
  })
}

function placeOf({ operator, path }: ElementPlace): UpdatePlace {
  return { operator, path: path.text }
}
