/**
 * The expressions of a pipeline: paths, variables, constants and shapes of them are compiled at once, operators when they are loaded.
 *
 * Invariants:
 * 1. Compiling reads nothing and loads nothing; load() does, once, and only what was asked for.
 * 2. An expression is copied: changing it later changes nothing.
 * 3. What is malformed is found by compile() or load(), before a document is read.
 */
import { PetalError } from '../model/errors.ts'
import { type Document, isPlainObject } from '../model/types.ts'
import type { Engine } from './engine.ts'
import { evaluationError, type StagePlace, stageError } from './errors.ts'
import { compileExpression, type Expression } from './expression-compile.ts'
import type { OperatorCompiler } from './operators/compiler.ts'

const maxDepth = 100

interface ToPrepare {
  readonly place: StagePlace
  readonly prepare: (compiler: OperatorCompiler) => void
  /** Names of variables that are known there. */
  readonly names: ReadonlySet<string>
}

/** The expressions of one pipeline and of the pipelines inside of it. */
export class Expressions {
  /** What `$lookup` lets its pipeline know; read at each evaluation. */
  readonly variables: Document = {}
  readonly #names = new Set<string>()
  readonly #toPrepare: ToPrepare[] = []
  #needsEngine = false
  #engine: Engine | undefined
  #now: Date | undefined

  get needsLoading(): boolean {
    return this.#toPrepare.length > 0 || this.#needsEngine
  }

  /** REQUIRES: load() was awaited, and something asked for the engine before. */
  get engine(): Engine {
    if (this.#engine !== undefined) return this.#engine
    throw new PetalError('InternalError', 'The engine of stages is not loaded')
  }

  /** Loads operators and compiles what has some, and the engine if a stage needs it. @throws PetalError that names the stage */
  async load(): Promise<void> {
    const { OperatorCompiler } = await import('./operators/compiler.ts')
    for (const { place, prepare, names } of this.#toPrepare) {
      const variable = (name: string): Expression => this.#variable(name, names, place)
      this.#run(place, () => prepare(new OperatorCompiler({ place, variable })))
    }
    if (!this.#needsEngine) return
    const { Engine } = await import('./engine.ts')
    // What a stage of the engine has inside is compiled when it runs: its variables are there by then.
    this.#engine = await Engine.load(this.variables, (place) => {
      const variable = (name: string): Expression => this.#variable(name, new Set(Object.keys(this.variables)), place)
      return new OperatorCompiler({ place, variable })
    })
  }

  /** Gives variables their values. @returns gives them back those they had before */
  assign(values: readonly (readonly [name: string, value: unknown])[]): () => void {
    const before = values.map(([name]) => [name, this.variables[name]] as const)
    for (const [name, value] of values) this.variables[name] = value
    return () => {
      for (const [name, value] of before) this.variables[name] = value
    }
  }

  /** Runs a step of compiling that knows more variables. */
  declaring<T>(names: readonly string[], compile: () => T): T {
    const added = names.filter((name) => !this.#names.has(name))
    for (const name of added) this.#names.add(name)
    try {
      return compile()
    } finally {
      for (const name of added) this.#names.delete(name)
    }
  }

  /** Asks for operators: `prepare` is given them before the pipeline runs. */
  require(place: StagePlace, prepare: (compiler: OperatorCompiler) => void): void {
    this.#toPrepare.push({ place, prepare, names: new Set(this.#names) })
  }

  /** Asks for the engine of stages. */
  requireEngine(): void {
    this.#needsEngine = true
  }

  /** @throws PetalError that names the stage, here and when the expression is evaluated */
  compile(expression: unknown, place: StagePlace): Expression {
    return compileExpression(copyOf(expression, place), {
      place,
      variable: (name) => this.#variable(name, this.#names, place),
      operation: (name, argument) => this.#operation(name, argument, place)
    })
  }

  #variable(name: string, names: ReadonlySet<string>, place: StagePlace): Expression {
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

  #operation(name: string, argument: unknown, place: StagePlace): Expression {
    let compiled: Expression | undefined
    this.require(place, (compiler) => {
      compiled = compiler.operation(name, argument)
    })
    return (document) => this.#run(place, () => (compiled as Expression)(document))
  }

  #run<T>(place: StagePlace, task: () => T): T {
    try {
      return task()
    } catch (error) {
      throw evaluationError(place, error)
    }
  }
}

/** A copy of what an expression is made of; values and functions stay what they are. */
export function copyOf(value: unknown, place: StagePlace, depth = 0): unknown {
  if (depth > maxDepth) throw stageError('BadValue', place, `nested more than ${maxDepth} levels deep`)
  if (Array.isArray(value)) return value.map((element) => copyOf(element, place, depth + 1))
  if (!isPlainObject(value)) return value
  const copy: Document = {}
  for (const key of Object.keys(value)) {
    if (key === '__proto__') throw stageError('BadValue', place, "the key '__proto__' is refused")
    copy[key] = copyOf(value[key], place, depth + 1)
  }
  return copy
}
