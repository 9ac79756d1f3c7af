/**
 * Edits one place in a document by copying only what is on the path to it.
 *
 * Invariants:
 * 1. Neither the document nor anything in it is changed, except the copies that earlier changes of the update have made.
 * 2. When the edit changes nothing, the very same object is returned.
 */
import { isIdentical } from '../../model/clone.ts'
import { positionOf } from '../../model/path.ts'
import { type Document, isPlainObject, typeNames, typeOf } from '../../model/types.ts'
import { filterError } from '../errors.ts'
import type { PathStep, UpdatePath } from './path.ts'
import { absent, type UpdatePlace } from './types.ts'

/** As in MongoDB: how far past the end of an array a position may be. The gap is filled with null. */
const maxBackfill = 1_500_000

export interface EditOptions {
  readonly operator: string
  /** Do nothing for a path that ends at a scalar. */
  readonly ignoresBlockedPath: boolean
  /** Decides `$[identifier]`. */
  readonly isFiltered: (identifier: string, element: unknown) => boolean
  /** The document before other changes of the same update, whose elements decide `$[identifier]`. */
  readonly original?: Document
  /** The copies made by all changes of one update, so that thousands of changes in one object copy it once. */
  readonly owned?: Set<unknown>
}

/** Applies `edit` to the value at the path. @throws PetalError PathNotViable, BadValue */
export function editAt(
  document: Document,
  path: UpdatePath,
  edit: (current: unknown) => unknown,
  options: EditOptions
): Document {
  const result = new PathEdit(path, edit, options).value(document, options.original ?? document, 0)
  // A path has at least one step, so the document itself is never removed or replaced by another kind of value.
  return result as Document
}

class PathEdit {
  readonly #path: UpdatePath
  readonly #edit: (current: unknown) => unknown
  readonly #options: EditOptions

  constructor(path: UpdatePath, edit: (current: unknown) => unknown, options: EditOptions) {
    this.#path = path
    this.#edit = edit
    this.#options = options
  }

  /** Returns the edited value before step `at`; `absent` for none. `original` is the value before the update. */
  value(value: unknown, original: unknown, at: number): unknown {
    const step = this.#path.steps[at]
    if (step === undefined) {
      const edited = this.#edit(value)
      return isIdentical(edited, value) ? value : edited
    }
    if (step.kind !== 'field') return this.#elements(value, original, at, step)
    if (value === absent) {
      const below = this.value(absent, absent, at + 1)
      return below === absent ? absent : this.#own({ [step.name]: below })
    }
    if (Array.isArray(value)) return this.#element(value, original, at, step.name)
    if (isPlainObject(value)) return this.#field(value, original, at, step.name)
    return this.#blocked(value, at)
  }

  #field(object: Document, original: unknown, at: number, name: string): unknown {
    const current = Object.hasOwn(object, name) ? (object[name] ?? null) : absent
    const edited = this.value(current, isPlainObject(original) ? original[name] : absent, at + 1)
    // Object.is, here and below, because NaN becoming NaN is no change.
    if (Object.is(edited, current)) return object
    if (!this.#isOwned(object)) {
      if (edited !== absent) return this.#own({ ...object, [name]: edited })
      const { [name]: _, ...rest } = object
      return this.#own(rest)
    }
    if (edited === absent) delete object[name]
    else object[name] = edited
    return object
  }

  #element(array: unknown[], original: unknown, at: number, name: string): unknown {
    const position = positionOf(name)
    if (position === undefined) return this.#blocked(array, at)
    const current = position < array.length ? (array[position] ?? null) : absent
    const given = this.value(current, Array.isArray(original) ? original[position] : absent, at + 1)
    if (Object.is(given, current)) return array
    const edited = asElement(given)
    if (Object.is(edited, current)) return array
    if (position > array.length + maxBackfill) {
      const problem = `position ${position} is more than ${maxBackfill} beyond the end of the array`
      throw filterError('BadValue', this.#place(), problem)
    }
    const copy = this.#isOwned(array) ? array : this.#own([...array])
    while (copy.length < position) copy.push(null)
    copy[position] = edited
    return copy
  }

  #elements(value: unknown, original: unknown, at: number, step: Exclude<PathStep, { kind: 'field' }>): unknown {
    if (value === absent) {
      const problem = `the path '${this.#prefix(at)}' must exist in the document in order to apply array updates`
      throw filterError('BadValue', this.#place(), problem)
    }
    if (!Array.isArray(value)) {
      const problem = `cannot apply array updates to '${this.#prefix(at)}' of type ${typeNames[typeOf(value)]}`
      throw filterError('BadValue', this.#place(), problem)
    }
    // No other change adds or removes elements here: that would be a conflict.
    const originals: readonly unknown[] = Array.isArray(original) ? original : value
    let copy: unknown[] | undefined
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i] ?? null
      const before = originals[i] ?? null
      if (step.kind === 'filtered' && !this.#options.isFiltered(step.identifier, before)) continue
      const edited = asElement(this.value(element, before, at + 1))
      if (Object.is(edited, element)) continue
      copy ??= this.#isOwned(value) ? value : this.#own([...value])
      copy[i] = edited
    }
    return copy ?? value
  }

  #isOwned(value: unknown): boolean {
    return this.#options.owned?.has(value) === true
  }

  #own<T extends object>(copy: T): T {
    this.#options.owned?.add(copy)
    return copy
  }

  #blocked(value: unknown, at: number): unknown {
    if (this.#options.ignoresBlockedPath) return value
    throw blocked(this.#place(), this.#path.text.split('.').slice(0, at + 1), value)
  }

  #prefix(at: number): string {
    return this.#path.text.split('.').slice(0, at).join('.')
  }

  #place(): UpdatePlace {
    return { operator: this.#options.operator, path: this.#path.text }
  }
}

/** The error for a path whose last component leads into a value that has no fields. */
export function blocked(place: UpdatePlace, components: readonly string[], value: unknown): Error {
  const prefix = components.slice(0, -1).join('.')
  const problem = `cannot create field '${components.at(-1)}' in '${prefix}' of type ${typeNames[typeOf(value)]}`
  return filterError('PathNotViable', place, problem)
}

/** An element cannot be removed by its position, which would move the others. */
function asElement(edited: unknown): unknown {
  return edited === absent ? null : edited
}
