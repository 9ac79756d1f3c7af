/**
 * The expressions of a pipeline or a find: paths, variables, constants and shapes of them are compiled at once, operators when they are loaded.
 *
 * Invariants:
 * 1. Compiling reads nothing and loads nothing; load() does, once, and only what was asked for.
 * 2. An expression is copied: changing it later changes nothing.
 * 3. What is malformed is found by compile() or load(), before a document is read.
 */
import { cloneValue } from '../model/clone.ts'
import type { StringOrder } from '../model/compare.ts'
import { type Document, isPlainObject } from '../model/types.ts'
import type { ExpressionCondition } from '../query/parse.ts'
import { isConstant } from './constants.ts'
import { evaluationError, type Place, stageError } from './errors.ts'
import { compileExpression, type Expression } from './expression-compile.ts'
import { impliedByFilter, impliedFilter } from './implied-filter.ts'
import type { OperatorCompiler } from './operators/compiler.ts'

const maxDepth = 100

type Prepare = (compiler: OperatorCompiler) => void | Promise<void>

interface ToPrepare {
  readonly place: Place
  readonly prepare: Prepare
  /** Names of variables that are known there. */
  readonly names: ReadonlySet<string>
  /** Of those, what have one value for all documents. */
  readonly constants: ReadonlySet<string>
}

/** The expressions of one find, or of one pipeline and of the pipelines inside of it. */
export class Expressions {
  /** What the option `let`, and `$lookup`, let it know; read at each evaluation. */
  readonly variables: Document
  readonly order: StringOrder | undefined
  readonly #names: Set<string>
  /** Those that have one value from now on. */
  readonly #constants: Map<string, unknown>
  readonly #toPrepare: ToPrepare[] = []
  #now: Date | undefined
  #loading: Promise<void> | undefined

  /** @param constants values that are known as `$$name` @param order of strings, where it is not by code point: a collation */
  constructor(constants: Document = {}, order?: StringOrder) {
    this.order = order
    this.variables = { ...constants }
    this.#names = new Set(Object.keys(constants))
    this.#constants = new Map(Object.entries(constants))
  }

  get needsLoading(): boolean {
    return this.#toPrepare.length > 0
  }

  /** Loads operators and compiles what has some. @throws PetalError that names the stage */
  load(): Promise<void> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  /** Gives variables their values. @returns gives them back those they had before */
  assign(values: readonly (readonly [name: string, value: unknown])[]): () => void {
    const before = values.map(([name]) => [name, this.variables[name]] as const)
    for (const [name, value] of values) this.variables[name] = value
    return () => {
      for (const [name, value] of before) this.variables[name] = value
    }
  }

  /** Runs a step of compiling that knows more variables, which have other values at each evaluation. */
  declaring<T>(names: readonly string[], compile: () => T): T {
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

  /** Asks for operators: `prepare` is given them before the pipeline runs, and may load more. */
  require(place: Place, prepare: Prepare): void {
    this.#toPrepare.push({ place, prepare, names: new Set(this.#names), constants: new Set(this.#constants.keys()) })
  }

  /** Whether it has one value for all documents, where it stands. */
  isConstant(expression: unknown): boolean {
    return isConstant(expression, (name) => name === 'NOW' || this.#constants.has(name))
  }

  /** @throws PetalError that names the stage, here and when the expression is evaluated */
  compile(expression: unknown, place: Place): Expression {
    return compileExpression(copyOf(expression, place), {
      place,
      variable: (name) => this.#variable(name, this.#names, place),
      operation: (name, argument) => this.#operation(name, argument, place)
    })
  }

  /** `$expr`: what decides, and what the index may narrow by. @throws as compile() */
  condition(expression: unknown, place: Place): ExpressionCondition {
    const evaluate = this.compile(expression, place)
    return { evaluate, implied: impliedFilter(expression, (name) => this.#constants.get(name)) }
  }

  /** What the `$expr`s of a filter imply by variables that have other values at each evaluation; undefined when they have none. */
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
    // To be missing is to be null for what is implied.
    const value = (name: string): unknown =>
      names.has(name) ? (this.variables[name] ?? null) : this.#constants.get(name)
    return () => impliedByFilter(copy, value)
  }

  async #load(): Promise<void> {
    const { OperatorCompiler } = await import('./operators/compiler.ts')
    for (const { place, prepare, names, constants } of this.#toPrepare) {
      const variable = (name: string): Expression => this.#variable(name, names, place)
      const isFixed = (name: string): boolean => name === 'NOW' || constants.has(name)
      try {
        await prepare(new OperatorCompiler({ place, variable, isFixed, isCollated: this.order !== undefined }))
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
        return () => {
          this.#now ??= new Date()
          return this.#now
        }
    }
    if (!names.has(name)) throw stageError('FailedToParse', place, `there is no variable $$${name}`)
    return () => this.variables[name]
  }

  #operation(name: string, argument: unknown, place: Place): Expression {
    let compiled: Expression | undefined
    this.require(place, (compiler) => {
      compiled = compiler.operation(name, argument)
    })
    return (document) => {
      try {
        return (compiled as Expression)(document)
      } catch (error) {
        throw evaluationError(place, error)
      }
    }
  }
}

/** A copy of what an expression is made of, with values as the store gives them back; functions and undefined stay what they are. */
export function copyOf(value: unknown, place: Place, depth = 0): unknown {
  if (depth > maxDepth) throw stageError('BadValue', place, `nested more than ${maxDepth} levels deep`)
  if (Array.isArray(value)) return Array.from(value, (element) => copyOf(element, place, depth + 1))
  if (!isPlainObject(value)) return cloneValue(value)
  const copy: Document = {}
  for (const key of Object.keys(value)) {
    if (key === '__proto__') throw stageError('BadValue', place, "the key '__proto__' is refused")
    copy[key] = copyOf(value[key], place, depth + 1)
  }
  return copy
}
