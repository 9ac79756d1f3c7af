/**
 * Parses projections such as `{ 'user.name': 1, tags: { $slice: 2 }, _id: 0 }` to trees of what happens to each key.
 */
import type { StringOrder } from '../model/compare.ts'
import { type ErrorName, PetalError } from '../model/errors.ts'
import { toDouble, unwrapNumber } from '../model/numbers.ts'
import { splitPath } from '../model/path.ts'
import { type Document, describeType, type Numeric, Type, typeNames, typeOf } from '../model/types.ts'
import { compileFilter } from './filter.ts'

/** Computes a field from the whole document. undefined is missing. */
type Computed = (document: Document) => unknown

export type ProjectionNode =
  | { readonly kind: 'include' }
  | { readonly kind: 'exclude' }
  /** Elements [skip, skip + count) of an array, anything else as a whole; a negative skip counts from the end. */
  | { readonly kind: 'slice'; readonly skip: number; readonly count: number }
  /** An array with the first element that passes; undefined when there is none. */
  | { readonly kind: 'elemMatch'; readonly firstOf: (value: unknown) => readonly unknown[] | undefined }
  | { readonly kind: 'computed'; readonly value: Computed }
  /** `isComputed` if something below is computed. */
  | { readonly kind: 'fields'; readonly fields: ProjectionFields; readonly isComputed: boolean }

export type ProjectionFields = ReadonlyMap<string, ProjectionNode>

export interface Projection {
  /** What happens to keys that are not listed. */
  readonly mode: 'inclusion' | 'exclusion'
  readonly fields: ProjectionFields
  /** Components of the path whose array is reduced to the element that the filter matched. */
  readonly matched: readonly string[] | undefined
}

/** The context of a projection. */
export interface ProjectionOptions {
  /** The filter that the documents matched; without one the positional `$` is rejected. */
  readonly filter?: unknown
  /**
   * Compiles the value of a computed field; without it such fields are rejected. With it but without a filter, it
   * compiles `$slice` and `$elemMatch`, too: these are projection operators only in a find.
   */
  readonly compute?: (expression: unknown) => Computed
  /** How strings compare, for `$elemMatch` and the positional `$`, if not by code point. */
  readonly order?: StringOrder | undefined
}

type MutableFields = Map<string, ProjectionNode>

/** Parses a projection; returns undefined when it selects whole documents. */
export function parseProjection(spec: unknown, options: ProjectionOptions = {}): Projection | undefined {
  if (spec === undefined || spec === null) return undefined
  if (typeOf(spec) !== Type.object)
    throw new PetalError('TypeMismatch', `A projection must be an object, not ${describeType(spec)}`)
  if (Object.keys(spec as Document).length === 0) return undefined
  return new ProjectionParser(options).parse(spec as Document)
}

class ProjectionParser {
  readonly #fields: MutableFields = new Map()
  #mode: Projection['mode'] | undefined
  #id: 'include' | 'exclude' | undefined
  #hasElemMatch = false
  #matched: readonly string[] | undefined
  readonly #isPositionalKnown: boolean
  readonly #compute: ProjectionOptions['compute']
  readonly #order: StringOrder | undefined

  constructor({ filter, compute, order }: ProjectionOptions) {
    this.#isPositionalKnown = filter !== undefined
    this.#compute = compute
    this.#order = order
  }

  parse(spec: Document): Projection {
    for (const [path, value] of Object.entries(spec)) this.#entry(path, value)
    if (this.#hasElemMatch && this.#matched !== undefined) {
      throw new PetalError('BadValue', "A projection cannot have both the positional '$' and $elemMatch", {
        details: { path: this.#matched.join('.') }
      })
    }
    const mode = this.#mode ?? this.#modeWithoutFields()
    if (this.#id !== undefined) this.#insert('_id', { kind: this.#id })
    else if (mode === 'inclusion' && !this.#fields.has('_id')) this.#fields.set('_id', { kind: 'include' })
    if (mode === 'inclusion') this.#putElementsLast()
    return { mode, fields: this.#fields, matched: this.#matched }
  }

  /** In an inclusion, moves the results of $elemMatch behind the other fields, like computed ones. */
  #putElementsLast(): void {
    for (const [key, node] of this.#fields) {
      if (node.kind !== 'elemMatch') continue
      this.#fields.set(key, { kind: 'computed', value: (document) => node.firstOf(document[key]) })
    }
  }

  /** Without included or excluded fields `_id` decides, then $elemMatch; $slice alone keeps the other fields. */
  #modeWithoutFields(): Projection['mode'] {
    if (this.#id !== undefined) return this.#id === 'include' ? 'inclusion' : 'exclusion'
    return this.#hasElemMatch ? 'inclusion' : 'exclusion'
  }

  #entry(named: string, value: unknown): void {
    const path = named.endsWith('.$') ? this.#positional(named, value) : named
    checkPath(path)
    const type = typeOf(value)
    switch (type) {
      case Type.bool:
      case Type.number: {
        const isIncluded = value === true || (type === Type.number && toDouble(value as Numeric) !== 0)
        this.#leaf(path, isIncluded ? 'include' : 'exclude')
        return
      }
      case Type.object:
        this.#object(path, value as Document)
        return
      default:
        if (this.#compute !== undefined) {
          this.#computed(path, this.#compute(value))
          return
        }
        throw new PetalError(
          'CommandNotSupported',
          `The projection of '${path}' must be 0, 1, $slice or $elemMatch here, not a value of type ${typeNames[type]}`,
          { details: { path } }
        )
    }
  }

  /** @returns the path without its `$` */
  #positional(named: string, value: unknown): string {
    const path = named.slice(0, -2)
    const details = { operator: '$', path: named }
    const fail = (codeName: ErrorName, problem: string): never => {
      throw new PetalError(codeName, `The positional projection '${named}' ${problem}`, { details })
    }
    if (!this.#isPositionalKnown) fail('CommandNotSupported', 'is not supported here; use $elemMatch')
    if (this.#matched !== undefined) fail('BadValue', 'is the second one; only one is allowed')
    const type = typeOf(value)
    if (value !== true && type !== Type.number) fail('BadValue', `must be 1, not ${typeNames[type]}`)
    if (type === Type.number && toDouble(value as Numeric) === 0) fail('BadValue', 'must be 1, not 0')
    this.#matched = splitPath(path)
    return path
  }

  #leaf(path: string, kind: 'include' | 'exclude'): void {
    if (path === '_id') {
      this.#id = kind
      return
    }
    this.#decide(kind === 'include' ? 'inclusion' : 'exclusion', path)
    this.#insert(path, { kind })
  }

  #computed(path: string, value: Computed): void {
    this.#decide('inclusion', path)
    this.#insert(path, { kind: 'computed', value })
  }

  #decide(mode: Projection['mode'], path: string): void {
    this.#mode ??= mode
    if (this.#mode === mode) return
    throw new PetalError('BadValue', `Cannot do ${mode} on field ${path} in ${this.#mode} projection`, {
      details: { path }
    })
  }

  #object(path: string, value: Document): void {
    const [name, ...others] = Object.keys(value)
    if (name === undefined) {
      throw new PetalError('BadValue', `An empty sub-projection is not a valid value, at '${path}'`, {
        details: { path }
      })
    }
    if (!name.startsWith('$')) {
      for (const [key, nested] of Object.entries(value)) this.#entry(`${path}.${key}`, nested)
      return
    }
    if (this.#compute !== undefined && !(this.#isPositionalKnown && isFindOperator(name, value[name]))) {
      this.#computed(path, this.#compute(value))
      return
    }
    if (others.length > 0) {
      throw new PetalError(
        'BadValue',
        `The projection of '${path}' must have one operator, not ${name} and ${others[0]}`,
        {
          details: { operator: name, path }
        }
      )
    }
    switch (name) {
      case '$slice':
        this.#insert(path, parseSlice(path, value[name]))
        return
      case '$elemMatch':
        this.#hasElemMatch = true
        this.#insert(path, parseElemMatch(path, value[name], this.#order))
        return
      default:
        throw new PetalError('CommandNotSupported', `${name} is not supported in a projection, at '${path}'`, {
          details: { operator: name, path }
        })
    }
  }

  #insert(path: string, node: ProjectionNode): void {
    const components = path.split('.')
    let fields = this.#fields
    components.forEach((component, i) => {
      const existing = fields.get(component)
      const isLast = i === components.length - 1
      if (existing !== undefined && (isLast || existing.kind !== 'fields')) throw collision(path)
      if (isLast) {
        fields.set(component, node)
        return
      }
      const level = existing?.kind === 'fields' ? existing : undefined
      // Every level was created here: its map is ours to extend.
      const below = (level?.fields ?? new Map()) as MutableFields
      const isComputed = node.kind === 'computed' || level?.isComputed === true
      fields.set(component, { kind: 'fields', fields: below, isComputed })
      fields = below
    })
  }
}

/**
 * Whether it is a projection operator. `$slice` is an expression operator, too, if its first argument is not a number.
 */
function isFindOperator(name: string, argument: unknown): boolean {
  if (name === '$slice') {
    const isList = Array.isArray(argument) && (argument.length === 2 || argument.length === 3)
    return !isList || typeOf(argument[0]) === Type.number
  }
  return name === '$elemMatch' || name === '$meta'
}

function checkPath(path: string): void {
  const details = { path }
  const components = splitPath(path)
  if (components.includes('')) {
    throw new PetalError('BadValue', `The projection path '${path}' has an empty component`, { details })
  }
  if (components.some((component) => component.startsWith('$'))) {
    throw new PetalError('BadValue', `The projection path '${path}' has a component that begins with '$'`, { details })
  }
  if (components.includes('__proto__')) {
    throw new PetalError('BadValue', `The projection path '${path}' has the component '__proto__'`, { details })
  }
}

function parseSlice(path: string, argument: unknown): ProjectionNode {
  if (!Array.isArray(argument)) {
    const count = integer(path, argument)
    return count >= 0 ? { kind: 'slice', skip: 0, count } : { kind: 'slice', skip: count, count: -count }
  }
  if (argument.length !== 2) throw badSlice(path, `an array of ${argument.length} elements`)
  const skip = integer(path, argument[0])
  const count = integer(path, argument[1])
  if (count <= 0) throw badSlice(path, `the limit ${count}`)
  return { kind: 'slice', skip, count }
}

function integer(path: string, value: unknown): number {
  const type = typeOf(value)
  if (type !== Type.number) throw badSlice(path, typeNames[type])
  const number = Math.trunc(Number(String(unwrapNumber(value as Numeric))))
  if (Number.isNaN(number)) throw badSlice(path, 'NaN')
  return number
}

function badSlice(path: string, found: string): PetalError {
  return new PetalError('BadValue', `$slice at '${path}' takes a number or [skip, limit > 0], not ${found}`, {
    details: { operator: '$slice', path }
  })
}

function parseElemMatch(path: string, condition: unknown, order: StringOrder | undefined): ProjectionNode {
  const details = { operator: '$elemMatch', path }
  if (path.includes('.')) {
    throw new PetalError('BadValue', `Cannot use $elemMatch projection on the nested field '${path}'`, { details })
  }
  const type = typeOf(condition)
  if (type !== Type.object) {
    throw new PetalError('BadValue', `$elemMatch at '${path}' takes an object, not ${typeNames[type]}`, { details })
  }
  const { matches } = compileFilter({ [path]: { $elemMatch: condition } }, { order })
  const firstOf = (value: unknown): readonly unknown[] | undefined => {
    if (!Array.isArray(value)) return undefined
    const index = value.findIndex((element: unknown) => matches({ [path]: [element] }))
    return index < 0 ? undefined : [value[index]]
  }
  return { kind: 'elemMatch', firstOf }
}

function collision(path: string): PetalError {
  return new PetalError('BadValue', `Path collision at '${path}' in the projection`, { details: { path } })
}
