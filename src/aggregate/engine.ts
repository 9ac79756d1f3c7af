/**
 * The door to npm mingo, which evaluates operators of expressions. It is loaded when the first pipeline needs it.
 *
 * Invariants:
 * 1. Only what is named here runs of it: paths, constants, most accumulators and all common stages are ours.
 * 2. Operators that compare, add, convert or call are replaced by ours: see engine-operators.ts.
 * 3. It is given documents that nobody else holds, or that no stage changes.
 */
import { turnIfLong } from '../model/time-slice.ts'
import type { Document } from '../model/types.ts'
import { replacedAccumulators, replacedExpressions } from './engine-operators.ts'
import type { EngineOptions, Evaluate, Operator } from './engine-types.ts'

/** Operators whose name is all that is asked of it before a pipeline runs. */
interface Operators {
  readonly expressions: Readonly<Record<string, Operator>>
  readonly accumulators: Readonly<Record<string, Operator>>
  readonly stages: Readonly<Record<string, unknown>>
}

type StageOperator = (source: unknown, spec: unknown, options: unknown) => Iterable<Document>

interface Loaded {
  readonly operators: Operators
  readonly evaluate: Evaluate
  /** Makes options that every evaluation of one pipeline shares. */
  options(variables: Document): EngineOptions
  /** The same for mingo's stages, which make options of each evaluation themselves. */
  stageOptions(variables: Document): unknown
  /** Makes of documents what a stage takes. */
  sequence(documents: Iterable<Document>): unknown
}

let loading: Promise<Loaded> | undefined

export class Engine {
  readonly #loaded: Loaded
  readonly #options: EngineOptions
  readonly #stageOptions: unknown

  private constructor(loaded: Loaded, variables: Document) {
    this.#loaded = loaded
    this.#options = loaded.options(variables)
    this.#stageOptions = loaded.stageOptions(variables)
  }

  /** @param variables read at each evaluation, as they are then */
  static async load(variables: Document): Promise<Engine> {
    loading ??= load()
    return new Engine(await loading, variables)
  }

  hasOperator(name: string): boolean {
    const { expressions, accumulators } = this.#loaded.operators
    return Object.hasOwn(expressions, name) || Object.hasOwn(accumulators, name)
  }

  hasAccumulator(name: string): boolean {
    return Object.hasOwn(this.#loaded.operators.accumulators, name)
  }

  evaluate(expression: unknown, document: unknown): unknown {
    return this.#loaded.evaluate(document, expression, this.#options.update({ root: document }))
  }

  /** What an accumulator makes of a group's documents. */
  accumulate(name: string, argument: unknown, documents: readonly Document[], groupId: unknown): unknown {
    const accumulator = this.#loaded.operators.accumulators[name] as Operator
    return accumulator(documents, argument, this.#options.update({ root: null, groupId }))
  }

  /** Runs one of mingo's stages over all of its input. */
  runStage(name: string, spec: unknown, documents: Iterable<Document>): Iterable<Document> {
    const stage = this.#loaded.operators.stages[name] as StageOperator
    return stage(this.#loaded.sequence(documents), spec, this.#stageOptions)
  }
}

/** What the modules below are made of: some two hundred files, loaded a folder at a time. */
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
  const [core, lazy, expression, accumulator, window, pipeline] = await Promise.all([
    import('mingo/core'),
    import('mingo/lazy'),
    import('mingo/operators/expression'),
    import('mingo/operators/accumulator'),
    import('mingo/operators/window'),
    import('mingo/operators/pipeline')
  ])
  const evaluate = core.evalExpr as unknown as Evaluate
  const given = {
    expressions: named(expression),
    accumulators: named(accumulator)
  } as unknown as Pick<Operators, 'expressions' | 'accumulators'>
  const operators: Operators = {
    expressions: { ...given.expressions, ...replacedExpressions(evaluate, given.expressions) },
    accumulators: { ...given.accumulators, ...replacedAccumulators(given.accumulators) },
    stages: named(pipeline)
  }
  // The class of options is not exported; an operator is handed an instance of it.
  let captured: EngineOptions | undefined
  const $capture: Operator = (_document, _argument, options) => {
    captured = options
  }
  const context = core.Context.init({
    expression: { ...operators.expressions, $capture } as never,
    accumulator: operators.accumulators as never,
    window: named(window) as never,
    pipeline: operators.stages as never
  })
  const optionsOf = (variables: Document): unknown => ({
    context,
    variables,
    idKey: '_id',
    scriptEnabled: true,
    useStrictMode: true,
    failOnError: true,
    processingMode: core.ProcessingMode.CLONE_OFF
  })
  return {
    operators,
    evaluate,
    sequence: (documents) => lazy.Lazy(documents),
    options(variables) {
      evaluate({}, { $capture: 0 }, optionsOf(variables) as EngineOptions)
      return captured as EngineOptions
    },
    stageOptions: optionsOf
  }
}

/** The operators that a module exports; `default` stands beside them where it was CommonJS. */
function named(module: object): Record<string, Operator> {
  return Object.fromEntries(Object.entries(module).filter(([name]) => name.startsWith('$')))
}
