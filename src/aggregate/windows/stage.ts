/**
 * `$setWindowFields`: computes fields from a window of documents around each document, partition by partition, in sort
 * order.
 *
 * Invariants:
 * 1. Every value is computed from the original documents.
 * 2. Documents are output one by one: of what is computed, only the contents of moving windows are held.
 */
import { type Document, isPlainObject } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import { checkDisjoint, checkKeys, pathOf } from '../arguments.ts'
import { evaluationError, type StagePlace, stageError } from '../errors.ts'
import type { Expression } from '../expression-compile.ts'
import type { OperatorCompiler } from '../operators/compiler.ts'
import { compileSortBy, OrderedPartitions, type Ordering, type Partition } from '../ordered-partitions.ts'
import { withValueAt } from '../set-path.ts'
import type { Collector } from '../stage.ts'
import { constantOf } from './constants.ts'
import { compileFunction } from './functions.ts'
import type { Budget, FunctionContext, WindowFunction } from './window-function.ts'

export interface Windowing extends Ordering {
  readonly fields: readonly {
    readonly components: readonly string[]
    readonly begin: WindowFunction
  }[]
}

export class WindowFields implements Collector {
  readonly #windowing: Windowing
  readonly #partitions: OrderedPartitions

  constructor(windowing: Windowing) {
    this.#windowing = windowing
    this.#partitions = new OrderedPartitions(windowing)
  }

  add(document: Document): void {
    try {
      this.#partitions.add(document)
    } catch (error) {
      throw evaluationError(this.#windowing.place, error)
    }
  }

  *results(): Iterable<Document | undefined> {
    try {
      for (const partition of this.#partitions.inOrder()) {
        if (partition === undefined) yield undefined
        else yield* this.#computed(partition)
      }
    } catch (error) {
      throw evaluationError(this.#windowing.place, error)
    }
  }

  *#computed(partition: Partition): Iterable<Document | undefined> {
    const stage = this.#partitions.budget
    let heldBytes = 0
    const budget: Budget = {
      change(bytes) {
        heldBytes += bytes
        stage.change(bytes)
      }
    }
    const columns = this.#windowing.fields.map(({ components, begin }) => ({
      components,
      column: begin({ ...partition, budget })
    }))
    for (const [position, document] of partition.documents.entries()) {
      let result = document
      for (const { components, column } of columns) {
        if (column.prepare !== undefined) yield* column.prepare(position)
        result = withValueAt(result, components, column.value(position), result)
      }
      yield result
    }
    stage.change(-heldBytes)
  }
}

/** @throws PetalError naming the stage, TypeError */
export function compileWindows(spec: Document, place: StagePlace, compiler: OperatorCompiler): Windowing {
  checkKeys(spec, ['partitionBy', 'sortBy', 'output'], place)
  const partitionOf = compilePartitionBy(spec.partitionBy, place, compiler)
  const sort = compileSortBy(spec.sortBy, place)
  const { output } = spec
  if (!isPlainObject(output)) {
    throw stageError('BadValue', place, `output must be an object, not ${describeType(output)}`)
  }
  const context: Omit<FunctionContext, 'name'> = { place, compiler, sort: spec.sortBy === undefined ? undefined : sort }
  const fields = Object.entries(output).map(([path, field]) => ({
    components: pathOf(path, place),
    begin: compileFunction(field, path, context)
  }))
  checkDisjoint(Object.keys(output), place)
  return { place, partitionOf, sort, fields }
}

function compilePartitionBy(partitionBy: unknown, place: StagePlace, compiler: OperatorCompiler): Expression {
  if (partitionBy === undefined) return () => null
  if (compiler.isConstant(partitionBy) && Array.isArray(constantOf(partitionBy, 'partitionBy', { place, compiler }))) {
    throw stageError('BadValue', place, 'partitionBy must not evaluate to an array')
  }
  return compiler.compile(partitionBy)
}
