/**
 * `$fill`: fills in fields that are null or missing. With methods, it holds all documents and outputs them partition by
 * partition, in sort order; with values only, it processes one document at a time.
 *
 * Invariants:
 * 1. Existing values are kept.
 * 2. Methods see the input documents; value expressions see documents already filled by the methods.
 */
import { type Document, isPlainObject } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import type { CompiledSort } from '../query/sort.ts'
import { checkDisjoint, checkKeys, objectOf, pathOf } from './arguments.ts'
import { type StagePlace, stageError } from './errors.ts'
import type { Expressions } from './expression.ts'
import type { Expression } from './expression-compile.ts'
import { isNil } from './expression-values.ts'
import { compileFieldPath } from './field-path.ts'
import { carried, type Filling, interpolated } from './gap-filling.ts'
import { compileSortBy, OrderedPartitions, type Ordering } from './ordered-partitions.ts'
import { partitionByPaths, partitionPaths } from './partition.ts'
import { withValueAt } from './set-path.ts'
import type { Collector, Stage } from './stage.ts'

interface Target {
  readonly components: readonly string[]
  /** Reads the field's current value. */
  readonly current: Expression
}

interface Methods extends Ordering {
  readonly fields: readonly (Target & { readonly method: Method })[]
  readonly fillValues: (document: Document) => Document
}

type Method = 'locf' | 'linear'

class Filled implements Collector {
  readonly #methods: Methods
  readonly #partitions: OrderedPartitions

  constructor(methods: Methods) {
    this.#methods = methods
    this.#partitions = new OrderedPartitions(methods)
  }

  add(document: Document): void {
    this.#partitions.add(document)
  }

  *results(): Iterable<Document | undefined> {
    for (const partition of this.#partitions.inOrder()) {
      if (partition === undefined) yield undefined
      else yield* this.#filled(partition.documents)
    }
  }

  *#filled(documents: readonly Document[]): Iterable<Document | undefined> {
    const { fields, fillValues } = this.#methods
    const columns: { readonly components: readonly string[]; readonly values: readonly unknown[] }[] = []
    for (const field of fields) {
      const { components, current, method } = field
      const values = yield* method === 'locf' ? carried(documents, current) : this.#between(documents, field)
      columns.push({ components, values })
    }
    for (const [i, document] of documents.entries()) {
      let result = document
      for (const { components, values } of columns) {
        if (values[i] !== undefined) result = withValueAt(result, components, values[i], result)
      }
      yield fillValues(result)
    }
  }

  #between(documents: readonly Document[], { components, current }: Target): Filling {
    const { place, sort } = this.#methods
    const path = sort.keys[0]?.path as string
    return interpolated(documents, { place, method: 'linear', current, what: `'${components.join('.')}'`, path })
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
  const output = outputOf(fill.output, place)
  checkDisjoint(Object.keys(output), place)
  for (const [path, how] of Object.entries(output)) {
    const components = pathOf(path, place)
    const target: Target = { components, current: compileFieldPath(path) }
    const [key, ...others] = isPlainObject(how) ? Object.keys(how) : []
    if (!isPlainObject(how) || (key !== 'value' && key !== 'method') || others.length > 0) {
      throw stageError('FailedToParse', place, `output for '${path}' must be { value } or { method }`)
    }
    if (key === 'value') values.push({ ...target, value: expressions.compile(how.value, place) })
    else fields.push({ ...target, method: methodOf(how.method, path, sort, place) })
  }
  const fillValues = (document: Document): Document => {
    let result = document
    // All values are computed from the original document.
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
  throw stageError(
    'BadValue',
    place,
    `the method 'linear' of '${path}' needs a sortBy of one field, not ${sort.keys.length}`
  )
}

function compilePartition(fill: Document, place: StagePlace, expressions: Expressions): Expression {
  const { partitionBy } = fill
  const paths = partitionPaths(fill.partitionByFields, place)
  if (partitionBy === undefined) return partitionByPaths(paths)
  if (fill.partitionByFields !== undefined) {
    throw stageError('FailedToParse', place, 'partitionBy and partitionByFields cannot be combined')
  }
  const isReference = typeof partitionBy === 'string' && partitionBy.startsWith('$')
  if (isReference || isPlainObject(partitionBy)) return expressions.compile(partitionBy, place)
  throw stageError('BadValue', place, 'partitionBy must be a path that begins with $, or an object')
}
