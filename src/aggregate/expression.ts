/**
 * The expressions of a pipeline or a find. Paths, variables, constants and objects of them are compiled immediately,
 * operators when they are loaded.
 *
 * Invariants:
 * 1. Compiling reads nothing and loads nothing; load() loads the required operators, once.
 * 2. Expressions are copied: later changes to the caller's objects have no effect.
 * 3. Malformed expressions are detected by compile() or load(), before a document is read.
 */
import { cloneValue } from '../model/clone.ts'
import type { StringOrder } from '../model/compare.ts'
import { type Document, isPlainObject } from '../model/types.ts'
import type { ExpressionCondition } from '../query/parse.ts'
import { isConstant } from './constants.ts'
import { evaluationError, type Place, stageError } from './errors.ts'
import { compileExpression, type Expression } from './expression-compile.ts'
import { impliedByFilter, impliedFilter } from './implied-filter.ts'
import { LoopGuard } from './loop-guard.ts'
import type { OperatorCompiler } from './operators/compiler.ts'
import { pathsOfExpression } from './used-paths.ts'

const maxDepth = 100

type Prepare = (compiler: OperatorCompiler) => void | Promise<void>

interface ToPrepare {
  readonly place: Place
  readonly prepare: Prepare
  /** Names of the variables in scope. */
  readonly names: ReadonlySet<string>
  /** Those of them that have one value for all documents. */
  readonly constants: ReadonlySet<string>
}

/** The expressions of one find, or of one pipeline including its nested pipelines. */
export class Expressions {
  /** Variables of the option `let` and of `$lookup`; read at each evaluation. */
  readonly variables: Document
  /** Values that are the same for all documents, by name. */
  readonly constants: Document
  readonly order: StringOrder | undefined
  /** Looks at the limits of the operation that evaluates them. */
  readonly loops = new LoopGuard()
  readonly #names: Set<string>
  /** Variables whose values do not change any more. */
  readonly #constants: Map<string, unknown>
  readonly #toPrepare: ToPrepare[] = []
  #now: Date | undefined
  #loading: Promise<void> | undefined

  /**
   * @param constants values available as `$$name`
   * @param order of strings, for a collation
   * @param now the value of `$$NOW`; by default the time of its first use
   */
  constructor(constants: Document = {}, order?: StringOrder, now?: Date) {
    this.order = order
    this.constants = constants
    this.#now = now
    this.variables = { ...constants }
    this.#names = new Set(Object.keys(constants))
    this.#constants = new Map(Object.entries(constants))
  }

  /** The value of `$$NOW`. */
  get now(): Date {
    this.#now ??= new Date()
    return this.#now
  }

  get needsLoading(): boolean {
    return this.#toPrepare.length > 0
  }

  /** Loads operators and compiles the expressions that use them. @throws PetalError naming the stage */
  load(): Promise<void> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  /** Assigns values to variables. @returns a function that restores the previous values */
  assign(values: readonly (readonly [name: string, value: unknown])[]): () => void {
    const before = values.map(([name]) => [name, this.variables[name]] as const)
    for (const [name, value] of values) this.variables[name] = value
    return () => {
      for (const [name, value] of before) this.variables[name] = value
    }
  }

  /** Compiles with additional variables in scope, whose values may differ at each evaluation. */
  withVariables<T>(names: readonly string[], compile: () => T): T {
    const added = names.filter((name) => !this.#names.has(name))
    for (const name of added) this.#names.add(name)
    const hidden = [...this.#constants].filter(([name]) => names.includes(name))
    for (const [name] of hidden) this.#constants.delete(name)
    try {
      return compile()
    } finally {
      for (const name of added) this.#names.delete(name)
      for (const [name, value] of hidden) this.#constants.set(name, value)
    }
  }

  /** Requests operators: `prepare` is called with a compiler before the pipeline runs, and may load more code. */
  require(place: Place, prepare: Prepare): void {
    this.#toPrepare.push({ place, prepare, names: new Set(this.#names), constants: new Set(this.#constants.keys()) })
  }

  /** Whether an expression, with the variables now in scope, has one value for all documents. */
  isConstant(expression: unknown): boolean {
    return isConstant(expression, (name) => isFixed(name, this.#constants))
  }

  /** @throws PetalError naming the stage, both here and when the expression is evaluated */
  compile(expression: unknown, place: Place): Expression {
    return compileExpression(copyOf(expression, place), {
      place,
      variable: (name) => this.#variable(name, this.#names, place),
      operation: (name, argument) => this.#operation(name, argument, place)
    })
  }

  /** Compiles `$expr`: the condition itself, and the filter that the index may use. @throws as compile() */
  condition(expression: unknown, place: Place): ExpressionCondition {
    const evaluate = this.compile(expression, place)
    const implied = impliedFilter(expression, (name) => this.#constants.get(name))
    return { evaluate, implied, paths: pathsOfExpression(expression) }
  }

  /**
   * Returns the filter implied by the `$expr`s of a filter, given the current values of its variables; undefined if it
   * has none that change between evaluations.
   */
  impliedBy(filter: unknown, place: Place): (() => Document | undefined) | undefined {
    const names = new Set([...this.#names].filter((name) => !this.#constants.has(name)))
    if (names.size === 0) return undefined
    const copy = copyOf(filter, place)
    let isAsked = false
    impliedByFilter(copy, (name) => {
      if (names.has(name)) isAsked = true
      return this.#constants.get(name)
    })
    if (!isAsked) return undefined
    // For the implied filter, missing counts as null.
    const value = (name: string): unknown =>
      names.has(name) ? (this.variables[name] ?? null) : this.#constants.get(name)
    return () => impliedByFilter(copy, value)
  }

  async #load(): Promise<void> {
    const { OperatorCompiler } = await import('./operators/compiler.ts')
    for (const { place, prepare, names, constants } of this.#toPrepare) {
      const variable = (name: string): Expression => this.#variable(name, names, place)
      try {
        await prepare(
          new OperatorCompiler({
            place,
            variable,
            isFixed: (name) => isFixed(name, constants),
            isCollated: this.order !== undefined,
            loops: this.loops
          })
        )
      } catch (error) {
        throw evaluationError(place, error)
      }
    }
  }

  #variable(name: string, names: ReadonlySet<string>, place: Place): Expression {
    switch (name) {
      case 'ROOT':
      case 'CURRENT':
        return (document) => document
      case 'REMOVE':
        return () => undefined
      case 'KEEP':
      case 'PRUNE':
      case 'DESCEND':
        return () => `$$${name}`
      case 'NOW':
        return () => this.now
    }
    if (!names.has(name)) throw stageError('FailedToParse', place, `there is no variable $$${name}`)
    return () => this.variables[name]
  }

  #operation(name: string, argument: unknown, place: Place): Expression {
    let compiled: Expression | undefined
    this.require(place, (compiler) => {
      compiled = compiler.operation(name, argument)
    })
    const { loops } = this
    return (document) => {
      try {
        // One may be evaluated for many parts of a document.
        loops.count()
        return (compiled as Expression)(document)
      } catch (error) {
        throw evaluationError(place, error)
      }
    }
  }
}

/** Whether a variable has one value for all documents. */
function isFixed(name: string, constants: { has(name: string): boolean }): boolean {
  return name === 'NOW' || constants.has(name)
}

/** Copies an expression, with values as the store would return them; functions and undefined are kept. */
export function copyOf(value: unknown, place: Place, depth = 0): unknown {
  if (depth > maxDepth) throw stageError('BadValue', place, `nested more than ${maxDepth} levels deep`)
  if (Array.isArray(value)) return Array.from(value, (element) => copyOf(element, place, depth + 1))
  if (!isPlainObject(value)) return cloneValue(value)
  const copy: Document = {}
  for (const key of Object.keys(value)) {
    if (key === '__proto__') throw stageError('BadValue', place, "the key '__proto__' is not allowed")
    copy[key] = copyOf(value[key], place, depth + 1)
  }
  return copy
}
