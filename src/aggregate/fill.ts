/**
 * `$fill`: values for fields that are null or missing. With methods it holds all documents and gives them partition by partition,
 * each in its order; with values alone one document at a time is enough.
 *
 * Invariants:
 * 1. What has a value keeps it.
 * 2. Methods see the documents as they came in, values those that the methods have filled.
 */
import type { PlainNumber } from '../model/arithmetic.ts'
import { compareValues, equalValues } from '../model/compare.ts'
import { PetalError } from '../model/errors.ts'
import { unwrapNumber } from '../model/numbers.ts'
import { type Document, isPlainObject, type Numeric, Type, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { type CompiledSort, compileSort } from '../query/sort.ts'
import { checkKeys, objectOf, pathOf } from './arguments.ts'
import { type StagePlace, stageError } from './errors.ts'
import type { Expressions } from './expression.ts'
import type { Expression } from './expression-compile.ts'
import { isNil } from './expression-values.ts'
import { compileFieldPath } from './field-path.ts'
import { HeldDocuments } from './held.ts'
import { interpolate, type Point } from './interpolation.ts'
import { partitionByPaths, partitionPaths } from './partition.ts'
import { withValueAt } from './set-path.ts'
import type { Collector, Stage } from './stage.ts'

interface Target {
  readonly components: readonly string[]
  /** What the field is. */
  readonly current: Expression
}

interface Methods {
  readonly place: StagePlace
  readonly partitionOf: Expression
  readonly sort: CompiledSort
  readonly fields: readonly (Target & { readonly method: Method })[]
  readonly fillValues: (document: Document) => Document
}

type Method = 'locf' | 'linear'
type Key = readonly [partition: unknown, sort: ReturnType<CompiledSort['keyOf']>]

/** Values for a partition's documents; undefined for those that keep theirs. May be interrupted wherever it yields. */
type Fill = Generator<undefined, readonly unknown[]>

class Filled implements Collector {
  readonly #methods: Methods
  readonly #held: HeldDocuments<Key>

  constructor(methods: Methods) {
    const { place, sort } = methods
    this.#methods = methods
    this.#held = new HeldDocuments(place, (a, b) => compareValues(a[0], b[0]) || sort.compareKeys(a[1], b[1]))
  }

  add(document: Document): void {
    const { place, partitionOf, sort } = this.#methods
    const partition = partitionOf(document)
    if (Array.isArray(partition)) throw stageError('BadValue', place, 'partitionBy must not give an array')
    this.#held.add(document, [partition, sort.keyOf(document)])
  }

  *results(): Iterable<Document | undefined> {
    const held = yield* this.#held.inOrder()
    let documents: Document[] = []
    let partition: unknown
    for (const { document, key } of held) {
      if (documents.length > 0 && !equalValues(key[0], partition)) {
        yield* this.#filled(documents)
        documents = []
      }
      partition = key[0]
      documents.push(document)
      yield undefined
    }
    yield* this.#filled(documents)
  }

  *#filled(documents: readonly Document[]): Iterable<Document | undefined> {
    const { fields, fillValues } = this.#methods
    const columns: { readonly components: readonly string[]; readonly values: readonly unknown[] }[] = []
    for (const field of fields) {
      const values = yield* field.method === 'locf' ? carried(documents, field) : this.#between(documents, field)
      columns.push({ components: field.components, values })
    }
    for (const [i, document] of documents.entries()) {
      let result = document
      for (const { components, values } of columns) {
        if (values[i] !== undefined) result = withValueAt(result, components, values[i], result)
      }
      yield fillValues(result)
    }
  }

  *#between(documents: readonly Document[], { components, current }: Target): Fill {
    const { place, sort } = this.#methods
    const path = sort.keys[0]?.path as string
    const placeOf = compileFieldPath(path)
    const values: unknown[] = []
    let before: unknown
    let left: Point | undefined
    /** Places of those that wait for the point on the right. */
    let waiting: PlainNumber[] = []
    for (const document of documents) {
      const at = placeOf(document)
      checkPlace(at, before, path, place)
      before = at
      const x = at instanceof Date ? at.getTime() : unwrapNumber(at as Numeric)
      const y = current(document)
      if (isNil(y)) {
        values.push(null)
        waiting.push(x)
      } else {
        if (typeOf(y) !== Type.number) {
          const found = `'${components.join('.')}' is a ${describeType(y)}`
          throw stageError('BadValue', place, `linear takes numbers, null and missing: ${found}`)
        }
        const right = { x, y: unwrapNumber(y as Numeric) }
        const start = values.length - waiting.length
        for (const [i, each] of waiting.entries()) {
          if (left !== undefined) values[start + i] = interpolate(left, right, each)
        }
        values.push(undefined)
        waiting = []
        left = right
      }
      yield undefined
    }
    return values
  }
}

/** The last value before each. */
function* carried(documents: readonly Document[], { current }: Target): Fill {
  const values: unknown[] = []
  let last: unknown = null
  for (const document of documents) {
    const value = current(document)
    values.push(isNil(value) ? last : undefined)
    if (!isNil(value)) last = value
    yield undefined
  }
  return values
}

/** @param before the one before it in the partition, undefined for the first */
function checkPlace(at: unknown, before: unknown, path: string, place: StagePlace): void {
  const type = at === undefined ? undefined : typeOf(at)
  if (type !== Type.number && type !== Type.date) {
    const found = at === undefined ? 'missing' : describeType(at)
    throw stageError('BadValue', place, `linear needs numbers or dates to sort by: '${path}' is ${found}`)
  }
  if (before === undefined) return
  if (type !== typeOf(before)) throw stageError('BadValue', place, `'${path}' mixes numbers and dates in one partition`)
  if (equalValues(at, before)) {
    throw stageError(
      'BadValue',
      place,
      `linear needs values that differ to sort by: '${path}' has one twice in a partition`
    )
  }
}

type FillStage = Pick<Stage & { kind: 'each' }, 'kind' | 'apply'> | Pick<Stage & { kind: 'collect' }, 'kind' | 'begin'>

export function compileFill(spec: unknown, place: StagePlace, expressions: Expressions): FillStage {
  const fill = objectOf(spec, place)
  checkKeys(fill, ['partitionBy', 'partitionByFields', 'sortBy', 'output'], place)
  const partitionOf = compilePartition(fill, place, expressions)
  const sort = compileSortBy(fill.sortBy, place)
  const values: (Target & { readonly value: Expression })[] = []
  const fields: (Target & { readonly method: Method })[] = []
  for (const [path, how] of Object.entries(outputOf(fill.output, place))) {
    const components = pathOf(path, place)
    const target: Target = { components, current: compileFieldPath(path) }
    const [key, ...others] = isPlainObject(how) ? Object.keys(how) : []
    if (!isPlainObject(how) || (key !== 'value' && key !== 'method') || others.length > 0) {
      throw stageError('FailedToParse', place, `output of '${path}' must be { value } or { method }`)
    }
    if (key === 'value') values.push({ ...target, value: expressions.compile(how.value, place) })
    else fields.push({ ...target, method: methodOf(how.method, path, sort, place) })
  }
  const fillValues = (document: Document): Document => {
    let result = document
    // Every value is of the document that came in.
    for (const { components, current, value } of values) {
      if (isNil(current(document))) result = withValueAt(result, components, value(document), result)
    }
    return result
  }
  if (fields.length === 0) return { kind: 'each', apply: fillValues }
  return { kind: 'collect', begin: () => new Filled({ place, partitionOf, sort, fields, fillValues }) }
}

function outputOf(output: unknown, place: StagePlace): Document {
  if (isPlainObject(output) && Object.keys(output).length > 0) return output
  const found = isPlainObject(output) ? 'an empty one' : describeType(output)
  throw stageError('BadValue', place, `output must be an object, not ${found}`)
}

function methodOf(method: unknown, path: string, sort: CompiledSort, place: StagePlace): Method {
  if (method !== 'locf' && method !== 'linear') {
    const found = typeof method === 'string' ? `'${method}'` : describeType(method)
    throw stageError('BadValue', place, `the method of '${path}' must be 'locf' or 'linear', not ${found}`)
  }
  if (method === 'locf' || sort.keys.length === 1) return method
  throw stageError('BadValue', place, `linear of '${path}' needs a sortBy of one field, not of ${sort.keys.length}`)
}

function compilePartition(fill: Document, place: StagePlace, expressions: Expressions): Expression {
  const { partitionBy } = fill
  const paths = partitionPaths(fill.partitionByFields, place)
  if (partitionBy === undefined) return partitionByPaths(paths)
  if (fill.partitionByFields !== undefined) {
    throw stageError('FailedToParse', place, 'it takes partitionBy or partitionByFields, not both')
  }
  const isReference = typeof partitionBy === 'string' && partitionBy.startsWith('$')
  if (isReference || isPlainObject(partitionBy)) return expressions.compile(partitionBy, place)
  throw stageError('BadValue', place, 'partitionBy must be a path that begins with $, or an object')
}

/** Without one documents keep the order in which they come. */
function compileSortBy(sortBy: unknown, place: StagePlace): CompiledSort {
  try {
    const sort = compileSort(sortBy === undefined ? undefined : objectOf(sortBy, place))
    if (sort.natural === undefined) return sort
  } catch (error) {
    if (!(error instanceof PetalError)) throw error
    throw error.details.stage === undefined ? stageError(error.codeName, place, error.message, error) : error
  }
  throw stageError('BadValue', place, 'sortBy cannot be $natural')
}
