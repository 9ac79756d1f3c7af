/**
 * Expressions of a pipeline, compiled: paths, variables, constants and shapes of them here, operators by the engine.
 *
 * Invariants:
 * 1. Compiling reads nothing and loads nothing; load() does, once, and only where an operator was compiled.
 * 2. An expression is copied: changing it later changes nothing.
 * 3. What is malformed is found by compile() or load(), before a document is read.
 */
import { PetalError } from '../model/errors.ts'
import { type Document, isPlainObject } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import type { Engine } from './engine.ts'
import { evaluationError, type StagePlace, stageError } from './errors.ts'
import { compileFieldPath } from './field-path.ts'

/** Undefined is missing. */
export type Expression = (document: Document) => unknown

const maxDepth = 100

/** The expressions of one pipeline and of the pipelines inside of it. */
export class Expressions {
  /** What `$lookup` lets its pipeline know; read at each evaluation. */
  readonly variables: Document = {}
  readonly #names = new Set<string>()
  readonly #toCheck: { readonly place: StagePlace; readonly check: (engine: Engine) => void }[] = []
  #engine: Engine | undefined
  #now: Date | undefined

  get needsEngine(): boolean {
    return this.#toCheck.length > 0
  }

  /** REQUIRES: load() was awaited, and something asked for the engine before. */
  get engine(): Engine {
    if (this.#engine !== undefined) return this.#engine
    throw new PetalError('InternalError', 'The engine of expressions is not loaded')
  }

  /** Loads the engine and lets it look at what was compiled. @throws PetalError InvalidPipelineOperator */
  async load(): Promise<void> {
    const { Engine } = await import('./engine.ts')
    this.#engine = await Engine.load(this.variables)
    for (const { check } of this.#toCheck) check(this.#engine)
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

  /** Asks for the engine, and what it is to be asked before the pipeline runs. */
  require(place: StagePlace, check: (engine: Engine) => void = () => {}): void {
    this.#toCheck.push({ place, check })
  }

  /** @throws PetalError that names the stage, here and when the expression is evaluated */
  compile(expression: unknown, place: StagePlace): Expression {
    return this.#compile(copyOf(expression, place), place)
  }

  #compile(expression: unknown, place: StagePlace): Expression {
    if (typeof expression === 'string' && expression.startsWith('$')) return this.#reference(expression, place)
    if (Array.isArray(expression)) {
      const elements = expression.map((element) => this.#compile(element, place))
      return (document) => elements.map((element) => element(document) ?? null)
    }
    if (!isPlainObject(expression)) return () => expression
    const keys = Object.keys(expression)
    const operator = keys.find((key) => key.startsWith('$'))
    if (operator === undefined) return this.#shape(expression, place)
    if (keys.length > 1) {
      throw stageError('FailedToParse', place, `an expression has one operator, got ${keys.join(' and ')}`)
    }
    if (operator === '$literal') return () => expression[operator]
    return this.#operation(expression, place)
  }

  /** A path or a variable. */
  #reference(text: string, place: StagePlace): Expression {
    if (!text.startsWith('$$')) {
      const path = text.slice(1)
      checkPath(path, place)
      return compileFieldPath(path)
    }
    const dot = text.indexOf('.')
    const name = dot < 0 ? text.slice(2) : text.slice(2, dot)
    const start = this.#variable(name, place)
    if (dot < 0) return start
    const path = text.slice(dot + 1)
    checkPath(path, place)
    const below = compileFieldPath(path)
    return (document) => below(start(document))
  }

  #variable(name: string, place: StagePlace): Expression {
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
    if (!this.#names.has(name)) throw stageError('FailedToParse', place, `there is no variable $$${name}`)
    return () => this.variables[name]
  }

  #shape(expression: Document, place: StagePlace): Expression {
    const fields = Object.entries(expression).map(([key, value]) => ({ key, value: this.#compile(value, place) }))
    return (document) => {
      const result: Document = {}
      for (const { key, value } of fields) {
        const computed = value(document)
        if (computed !== undefined) result[key] = computed
      }
      return result
    }
  }

  #operation(expression: Document, place: StagePlace): Expression {
    this.require(place, (engine) => checkOperators(expression, engine, place))
    return (document) => {
      try {
        return this.engine.evaluate(expression, document)
      } catch (error) {
        throw evaluationError(place, error)
      }
    }
  }
}

function checkPath(path: string, place: StagePlace): void {
  const components = path.split('.')
  if (components.includes('')) throw stageError('FailedToParse', place, `the path '$${path}' has an empty component`)
  const bad = components.find((component) => component.startsWith('$') || component === '__proto__')
  if (bad !== undefined) throw stageError('FailedToParse', place, `the path '$${path}' has the component '${bad}'`)
}

/** Every operator is known, stands alone, and has functions where it calls some. */
function checkOperators(value: unknown, engine: Engine, place: StagePlace): void {
  if (Array.isArray(value)) for (const element of value) checkOperators(element, engine, place)
  if (!isPlainObject(value)) return
  for (const key of Object.keys(value)) {
    if (key === '$literal') return
    const argument = value[key]
    if (key.startsWith('$')) {
      if (Object.keys(value).length > 1) {
        throw stageError(
          'FailedToParse',
          place,
          `an expression has one operator, got ${Object.keys(value).join(' and ')}`
        )
      }
      if (!engine.hasOperator(key)) throw stageError('InvalidPipelineOperator', place, `there is no operator ${key}`)
      if (key === '$function') checkFunction(argument, place)
    }
    checkOperators(argument, engine, place)
  }
}

function checkFunction(argument: unknown, place: StagePlace): void {
  const body = isPlainObject(argument) ? argument.body : argument
  if (typeof body === 'function') return
  throw stageError('BadValue', place, `$function: body must be a function, not ${describeType(body)}`)
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
