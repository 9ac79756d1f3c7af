/**
 * `$group` and the stages built on it: a single pass over the documents, which are held only for accumulators that need
 * all documents of a group at once.
 */
import { compareValues } from '../model/compare.ts'
import { estimateBytes, MemoryBudget } from '../model/memory-budget.ts'
import { type Document, isPlainObject } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { type Accumulator, accumulatorClass } from './accumulators.ts'
import { fieldName, objectOf } from './arguments.ts'
import { describePlace, evaluationError, type StagePlace, stageError } from './errors.ts'
import type { Expressions } from './expression.ts'
import type { Expression } from './expression-compile.ts'
import { type GroupKey, groupKey } from './group-key.ts'
import type { GroupAccumulator } from './operators/group-accumulators.ts'
import type { PartialCollector } from './stage.ts'

/** Overhead of a group besides its values. */
export const groupBytes = 200

/** An output field of each group. */
export interface GroupField {
  readonly name: string
  readonly value: Expression
  /** undefined for an accumulator that needs all documents of a group. */
  readonly begin: (() => Accumulator) | undefined
  /** undefined if `begin` is not. */
  readonly accumulate: GroupAccumulator | undefined
}

/** Shared by all groups of a stage. */
export interface GroupOutput {
  readonly place: StagePlace
  readonly fields: readonly GroupField[]
  readonly budget: MemoryBudget
  /** Whether the stage holds the documents anyway, so that they must not be counted again. */
  readonly areHeld: boolean
}

/** A group of documents. */
export class Group {
  readonly id: unknown
  readonly #output: GroupOutput
  readonly #accumulators: readonly (Accumulator | undefined)[]
  /** undefined if no accumulator needs them. */
  readonly #documents: Document[] | undefined

  constructor(id: unknown, output: GroupOutput) {
    this.id = id
    this.#output = output
    this.#accumulators = output.fields.map(({ begin }) => begin?.())
    this.#documents = this.#accumulators.includes(undefined) ? [] : undefined
    output.budget.change(groupBytes + estimateBytes(id))
  }

  add(document: Document): void {
    const { fields, budget, areHeld } = this.#output
    for (let i = 0; i < fields.length; i++) {
      const accumulator = this.#accumulators[i]
      if (accumulator === undefined) continue
      const value = (fields[i] as GroupField).value(document)
      if (this.#addTo(accumulator, value)) budget.change(estimateBytes(value))
    }
    if (this.#documents === undefined) return
    this.#documents.push(document)
    if (!areHeld) budget.change(estimateBytes(document))
  }

  /** REQUIRES: that of Groups */
  partial(): readonly unknown[] {
    return this.#accumulators.map((accumulator) => accumulator?.partial?.())
  }

  /** @param partial of a group with the same id, of documents that come next */
  merge(partial: readonly unknown[]): void {
    this.#accumulators.forEach((accumulator, i) => {
      if (accumulator?.merge !== undefined) {
        accumulator.merge(partial[i])
        return
      }
      for (const value of partial[i] as readonly unknown[]) {
        if (accumulator?.add(value)) this.#output.budget.change(estimateBytes(value))
      }
    })
  }

  /** Pauses after every few hundred documents, if it takes all of them at once. */
  *result(): Generator<undefined, Document> {
    const result: Document = { _id: this.id }
    for (const [i, { name, accumulate }] of this.#output.fields.entries()) {
      result[name] =
        accumulate === undefined ? this.#accumulators[i]?.result() : yield* accumulate(this.#documents ?? [], this.id)
    }
    return result
  }

  #addTo(accumulator: Accumulator, value: unknown): boolean {
    try {
      return accumulator.add(value)
    } catch (error) {
      throw evaluationError(this.#output.place, error)
    }
  }
}

export interface Grouping {
  readonly place: StagePlace
  readonly id: Expression
  readonly fields: readonly GroupField[]
  /** Sort groups by id, instead of in the order of their first documents. */
  readonly isOrdered?: boolean
}

type PartialGroup = readonly [id: unknown, values: readonly unknown[]]

export class Groups implements PartialCollector {
  readonly #grouping: Grouping
  readonly #output: GroupOutput
  readonly #groups = new Map<GroupKey, Group>()

  constructor(grouping: Grouping) {
    const { place, fields } = grouping
    this.#grouping = grouping
    this.#output = { place, fields, budget: stageBudget(place), areHeld: false }
  }

  get size(): number {
    return this.#groups.size
  }

  add(document: Document): void {
    this.#groupOf(this.#grouping.id(document)).add(document)
  }

  get canDivide(): boolean {
    return this.#output.fields.every(({ begin }) => begin?.().partial !== undefined)
  }

  partial(): readonly PartialGroup[] {
    return Array.from(this.#groups.values(), (group) => [group.id, group.partial()])
  }

  merge(partial: unknown): void {
    for (const [id, values] of partial as readonly PartialGroup[]) this.#groupOf(id).merge(values)
  }

  #groupOf(id: unknown): Group {
    const key = groupKey(id)
    let group = this.#groups.get(key)
    if (group === undefined) {
      group = new Group(id ?? null, this.#output)
      this.#groups.set(key, group)
    }
    return group
  }

  *results(): Iterable<Document | undefined> {
    const { isOrdered = false } = this.#grouping
    const groups = this.#groups.values()
    for (const group of isOrdered ? [...groups].sort((a, b) => compareValues(a.id, b.id)) : groups) {
      yield yield* group.result()
    }
  }
}

export function compileGroup(spec: unknown, place: StagePlace, expressions: Expressions): Grouping {
  const { _id, ...fields } = objectOf(spec, place)
  if (!Object.hasOwn(spec as Document, '_id')) throw stageError('FailedToParse', place, '_id is required')
  return { place, id: compileId(_id, place, expressions), fields: compileFields(fields, place, expressions) }
}

/** As in MongoDB, the only field of an object is null where it is missing; objects of several fields lack it. */
function compileId(spec: unknown, place: StagePlace, expressions: Expressions): Expression {
  const id = expressions.compile(spec, place)
  const [key, ...others] = isPlainObject(spec) ? Object.keys(spec) : []
  if (key === undefined || key.startsWith('$') || others.length > 0) return id
  return (document) => {
    const found = id(document) as Document
    return Object.hasOwn(found, key) ? found : { [key]: null }
  }
}

export const countOnly: Document = { count: { $sum: 1 } }

/** Compiles grouping by a value with a count per group. */
export function compileCounts(spec: unknown, place: StagePlace, expressions: Expressions): Grouping {
  if (!isPathOrOperator(spec)) {
    throw stageError('BadValue', place, 'the argument must be a path that begins with $, or an operator')
  }
  return { place, id: expressions.compile(spec, place), fields: compileFields(countOnly, place, expressions) }
}

export function isPathOrOperator(spec: unknown): boolean {
  if (typeof spec === 'string') return spec.startsWith('$')
  return isPlainObject(spec) && Object.keys(spec)[0]?.startsWith('$') === true
}

export function stageBudget(place: StagePlace): MemoryBudget {
  return new MemoryBudget(describePlace(place), 'filter or project before this stage')
}

export function compileFields(fields: Document, place: StagePlace, expressions: Expressions): readonly GroupField[] {
  return Object.entries(fields).map(([key, spec]) => compileField(fieldName(key, place), spec, place, expressions))
}

function compileField(name: string, spec: unknown, place: StagePlace, expressions: Expressions): GroupField {
  const [operator, ...others] = isPlainObject(spec) ? Object.keys(spec) : []
  if (!isPlainObject(spec) || operator === undefined || !operator.startsWith('$')) {
    throw stageError(
      'FailedToParse',
      place,
      `'${name}' must be an accumulator such as { $sum: 1 }, not ${describeType(spec)}`
    )
  }
  if (others.length > 0) {
    throw stageError(
      'FailedToParse',
      place,
      `'${name}' must have exactly one accumulator, got ${operator} and ${others[0]}`
    )
  }
  const Class = accumulatorClass(operator)
  const argument = spec[operator]
  if (Array.isArray(argument)) {
    throw stageError('FailedToParse', place, `${operator} of '${name}' takes one expression, not an array of them`)
  }
  if (operator === '$count' && !(isPlainObject(argument) && Object.keys(argument).length === 0)) {
    throw stageError('BadValue', place, `$count of '${name}' takes {}`)
  }
  if (Class !== undefined) {
    const value = expressions.compile(argument, place)
    return { name, value, begin: () => new Class(), accumulate: undefined }
  }
  if (operator === '$accumulator') checkAccumulator(argument, place)
  let compiled: GroupAccumulator | undefined
  expressions.require(place, (compiler) => {
    compiled = compiler.accumulator(operator, argument)
  })
  const accumulate: GroupAccumulator = function* (documents, id) {
    try {
      return yield* (compiled as GroupAccumulator)(documents, id)
    } catch (error) {
      throw evaluationError(place, error)
    }
  }
  return { name, value: () => undefined, begin: undefined, accumulate }
}

/** Strings of code are not accepted, as for `$where`. */
function checkAccumulator(argument: unknown, place: StagePlace): void {
  const parts = isPlainObject(argument) ? argument : {}
  for (const part of ['init', 'accumulate', 'merge', 'finalize']) {
    const value = parts[part]
    const isOptional = part === 'merge' || part === 'finalize'
    if (typeof value === 'function' || (isOptional && value === undefined)) continue
    throw stageError('BadValue', place, `$accumulator: ${part} must be a function, not ${describeType(value)}`)
  }
}
