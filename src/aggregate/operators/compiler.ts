/**
 * Compiles operators and the expressions nested in them, with the variables of `$map`, `$filter`, `$reduce` and `$let`
 * in scope.
 *
 * Invariant: a variable is a slot that its operator fills before each evaluation of an expression that may read it.
 */
import { assertOperatorSupportsCollation } from '../collation-support.ts'
import { isConstant } from '../constants.ts'
import { stageError } from '../errors.ts'
import {
  compileExpression,
  type Expression,
  invalidVariableName,
  isVariableName,
  type Resolver
} from '../expression-compile.ts'
import type { LoopGuard } from '../loop-guard.ts'
import { operators } from './all.ts'
import { compileGroupAccumulator, type GroupAccumulator } from './group-accumulators.ts'
import type { Compiler, Operator, Variable } from './operator.ts'

/** The only system variable that `$let` may set. */
const currentName = 'CURRENT'

interface Outer extends Omit<Resolver, 'operation'> {
  /** Whether a variable has one value for all documents. */
  readonly isFixed: (name: string) => boolean
  /** Whether there is a collation, under which strings must not be compared by code point. */
  readonly isCollated: boolean
  readonly loops: LoopGuard
}

export class OperatorCompiler implements Compiler, Resolver {
  readonly place: Resolver['place']
  readonly loops: LoopGuard
  readonly #outer: Outer
  readonly #variables: ReadonlyMap<string, Variable>
  /** Operators instead of the usual ones, by their arguments: objects of the expression. */
  readonly #instead: ReadonlyMap<unknown, Operator>

  constructor(
    outer: Outer,
    variables: ReadonlyMap<string, Variable> = new Map(),
    instead: ReadonlyMap<unknown, Operator> = new Map()
  ) {
    this.place = outer.place
    this.loops = outer.loops
    this.#outer = outer
    this.#variables = variables
    this.#instead = instead
  }

  compile(expression: unknown): Expression {
    return compileExpression(expression, this)
  }

  withVariables(
    names: readonly string[],
    instead?: ReadonlyMap<unknown, Operator>
  ): { readonly compiler: Compiler; readonly variables: readonly Variable[] } {
    const variables = names.map((name): Variable => {
      if (!isVariableName(name) && name !== currentName) throw new TypeError(invalidVariableName(name))
      return { value: undefined }
    })
    const known = new Map(this.#variables)
    names.forEach((name, i) => {
      known.set(name, variables[i] as Variable)
    })
    const replaced = instead === undefined ? this.#instead : new Map([...this.#instead, ...instead])
    return { compiler: new OperatorCompiler(this.#outer, known, replaced), variables }
  }

  get current(): Expression | undefined {
    const own = this.#variables.get(currentName)
    return own === undefined ? undefined : () => own.value
  }

  variable(name: string): Expression {
    const own = this.#variables.get(name)
    return own === undefined ? this.#outer.variable(name) : () => own.value
  }

  /** Whether an expression has one value for all documents. */
  isConstant(expression: unknown): boolean {
    return isConstant(expression, (name) => !this.#variables.has(name) && this.#outer.isFixed(name))
  }

  /** Compiles an accumulator that takes all documents of a group. */
  accumulator(name: string, argument: unknown): GroupAccumulator {
    const accumulator = compileGroupAccumulator(name, argument, this)
    if (accumulator !== undefined) return accumulator
    throw stageError('InvalidPipelineOperator', this.place, `there is no accumulator ${name}`)
  }

  operation(name: string, argument: unknown): Expression {
    const compile = this.#instead.get(argument) ?? operators.get(name)
    if (compile === undefined) {
      throw stageError('InvalidPipelineOperator', this.place, `there is no operator ${name}`)
    }
    if (this.#outer.isCollated) assertOperatorSupportsCollation(name, this.place)
    return compile(argument, this, name)
  }
}
