/**
 * The door to npm mingo, which runs `$setWindowFields`. It is loaded when the first pipeline has that.
 *
 * Invariants:
 * 1. Only that stage, and operators that stand in windows alone, run of it: all operators of expressions and all other accumulators
 *    are ours, within the stage too.
 * 2. It is given documents that nobody else holds, or that no stage changes.
 */
import { turnIfLong } from '../model/time-slice.ts'
import type { Document } from '../model/types.ts'
import { accumulatorClass, accumulatorNames } from './accumulators.ts'
import type { StagePlace } from './errors.ts'
import type { Expression } from './expression-compile.ts'
import { operators } from './operators/all.ts'
import type { OperatorCompiler } from './operators/compiler.ts'
import { groupAccumulatorNames } from './operators/group-accumulators.ts'

/** An operator as mingo calls it, with its argument not evaluated; accumulators are given an array of documents. */
type EngineOperator = (document: unknown, argument: unknown) => unknown

type StageOperator = (source: unknown, spec: unknown, options: unknown) => Iterable<Document>

interface Loaded {
  readonly setWindowFields: StageOperator
  /** Options of the stage, in which our operators are known. */
  options(
    variables: Document,
    expressions: Record<string, EngineOperator>,
    accumulators: Record<string, EngineOperator>
  ): unknown
  /** Makes of documents what the stage takes. */
  sequence(documents: Iterable<Document>): unknown
}

let loading: Promise<Loaded> | undefined

export class Engine {
  readonly #loaded: Loaded
  readonly #variables: Document
  readonly #compilerOf: (place: StagePlace) => OperatorCompiler

  private constructor(loaded: Loaded, variables: Document, compilerOf: (place: StagePlace) => OperatorCompiler) {
    this.#loaded = loaded
    this.#variables = variables
    this.#compilerOf = compilerOf
  }

  /** @param variables read at each evaluation, as they are then */
  static async load(variables: Document, compilerOf: (place: StagePlace) => OperatorCompiler): Promise<Engine> {
    loading ??= load()
    return new Engine(await loading, variables, compilerOf)
  }

  /** Runs the stage over all of its input. */
  setWindowFields(place: StagePlace, spec: unknown, documents: Iterable<Document>): Iterable<Document> {
    const compiler = this.#compilerOf(place)
    const accumulators = entriesOf([...accumulatorNames, ...groupAccumulatorNames], (name) => {
      return remembered((argument) => accumulating(name, argument, compiler))
    })
    const expressions = entriesOf(operators.keys(), (name) => {
      const evaluate = remembered((argument) => compiler.operation(name, argument) as (document: unknown) => unknown)
      const accumulate = accumulators[name]
      // Where it evaluates an accumulator for many documents, it asks for an expression of that name first.
      return (document, argument) =>
        accumulate !== undefined && Array.isArray(document)
          ? accumulate(document, argument)
          : evaluate(document, argument)
    })
    const options = this.#loaded.options(this.#variables, expressions, accumulators)
    return this.#loaded.setWindowFields(this.#loaded.sequence(documents), spec, options)
  }
}

function entriesOf(names: Iterable<string>, make: (name: string) => EngineOperator): Record<string, EngineOperator> {
  return Object.fromEntries(Array.from(names, (name) => [name, make(name)]))
}

/** Compiles each argument once, as long as it is an object: the same one comes for every document. */
function remembered(compile: (argument: unknown) => (document: unknown) => unknown): EngineOperator {
  const known = new WeakMap<object, (document: unknown) => unknown>()
  return (document, argument) => {
    if (typeof argument !== 'object' || argument === null) return compile(argument)(document)
    let compiled = known.get(argument)
    if (compiled === undefined) {
      compiled = compile(argument)
      known.set(argument, compiled)
    }
    return compiled(document)
  }
}

function accumulating(name: string, argument: unknown, compiler: OperatorCompiler): (documents: unknown) => unknown {
  const Class = accumulatorClass(name)
  if (Class === undefined) {
    const accumulate = compiler.accumulator(name, argument)
    return (documents) => accumulate(documents as readonly Document[], {})
  }
  const value: Expression = compiler.compile(argument)
  return (documents) => {
    const accumulator = new Class()
    for (const document of documents as readonly Document[]) accumulator.add(value(document))
    return accumulator.result()
  }
}

/** What the stage is made of: some two hundred files, loaded a folder at a time. */
const parts: readonly (() => Promise<unknown>)[] = [
  () => import('mingo/util'),
  () => import('mingo/operators/expression/arithmetic'),
  () => import('mingo/operators/expression/array'),
  () => import('mingo/operators/expression/bitwise'),
  () => import('mingo/operators/expression/comparison'),
  () => import('mingo/operators/expression/conditional'),
  () => import('mingo/operators/expression/date'),
  () => import('mingo/operators/expression/set'),
  () => import('mingo/operators/expression/string'),
  () => import('mingo/operators/expression/trignometry'),
  () => import('mingo/operators/expression/type'),
  () => import('mingo/operators/accumulator'),
  () => import('mingo/operators/query'),
  () => import('mingo/operators/window')
]

async function load(): Promise<Loaded> {
  for (const part of parts) {
    await part()
    await turnIfLong()
  }
  const [core, lazy, accumulator, window, pipeline] = await Promise.all([
    import('mingo/core'),
    import('mingo/lazy'),
    import('mingo/operators/accumulator'),
    import('mingo/operators/window'),
    import('mingo/operators/pipeline')
  ])
  const { $covariancePop, $covarianceSamp } = accumulator
  return {
    setWindowFields: pipeline.$setWindowFields as unknown as StageOperator,
    sequence: (documents) => lazy.Lazy(documents),
    options: (variables, expressions, accumulators) => ({
      variables,
      context: core.Context.init({
        expression: expressions as never,
        accumulator: { $covariancePop, $covarianceSamp, ...accumulators } as never,
        window: named(window) as never
      }),
      idKey: '_id',
      scriptEnabled: true,
      useStrictMode: true,
      failOnError: true,
      processingMode: core.ProcessingMode.CLONE_OFF
    })
  }
}

/** The operators that a module exports; `default` stands beside them where it was CommonJS. */
function named(module: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(module).filter(([name]) => name.startsWith('$')))
}
