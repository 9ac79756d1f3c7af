/** Types of operators, and helpers for their arguments. */
import { cloneValue } from '../../model/clone.ts'
import { timeOf } from '../../model/date.ts'
import { exactInt64 } from '../../model/integers.ts'
import { unwrapNumber } from '../../model/numbers.ts'
import { type Document, isPlainObject, type Numeric, Type, typeOf } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import type { Expression } from '../expression-compile.ts'
import { isNil } from '../expression-values.ts'
import type { LoopGuard } from '../loop-guard.ts'

/** A variable with its current value. */
export interface Variable {
  value: unknown
}

export interface Compiler {
  /** Told of every element that an operator goes through. */
  readonly loops: LoopGuard
  compile(expression: unknown): Expression
  /**
   * Returns a compiler with additional variables in scope.
   * @param instead operators to use instead of the usual ones, by their arguments
   * @throws TypeError for an invalid variable name
   */
  withVariables(
    names: readonly string[],
    instead?: ReadonlyMap<unknown, Operator>
  ): { readonly compiler: Compiler; readonly variables: readonly Variable[] }
}

/**
 * @param argument as written in the pipeline
 * @throws TypeError for a malformed argument; the returned function throws it for values that the operator does not
 *   accept
 */
export type Operator = (argument: unknown, compiler: Compiler, name: string) => Expression

export type Operators = Readonly<Record<string, Operator>>

/** An operator on a list of arguments; a single one need not be in an array. */
export function nary(
  least: number,
  most: number,
  compute: (values: readonly unknown[], name: string, loops: LoopGuard) => unknown
): Operator {
  return (argument, compiler, name) => {
    const list = listOf(argument)
    if (list.length < least || list.length > most) {
      throw new TypeError(`${name} takes ${countOf(least, most)}, got ${list.length}`)
    }
    const values = list.map((each) => compiler.compile(each))
    const { loops } = compiler
    return (document) =>
      compute(
        values.map((value) => value(document)),
        name,
        loops
      )
  }
}

/** An operator on one argument, which may be in an array. */
export function unary(compute: (value: unknown, name: string, loops: LoopGuard) => unknown): Operator {
  return nary(1, 1, ([value], name, loops) => compute(value, name, loops))
}

/**
 * An operator on named arguments, all of which are evaluated. A name given in the pipeline is present, whatever its
 * value.
 */
export function named(
  required: readonly string[],
  optional: readonly string[],
  compute: (values: Document, name: string, loops: LoopGuard) => unknown
): Operator {
  return (argument, compiler, name) => {
    const fields = Object.entries(fieldsOf(argument, name, required, optional)).map(
      ([key, value]) => [key, compiler.compile(value)] as const
    )
    return (document) => {
      const values: Document = {}
      for (const [key, value] of fields) values[key] = value(document)
      return compute(values, name, compiler.loops)
    }
  }
}

/** @throws TypeError unless it is an object with these keys */
export function fieldsOf(
  argument: unknown,
  name: string,
  required: readonly string[],
  optional: readonly string[]
): Document {
  const known = [...required, ...optional]
  if (!isPlainObject(argument)) {
    throw new TypeError(`${name} takes { ${known.join(', ')} }, not ${describeType(argument)}`)
  }
  const unknown = Object.keys(argument).find((key) => !known.includes(key))
  if (unknown !== undefined) throw new TypeError(`${name} has no option '${unknown}'`)
  const missing = required.find((key) => !Object.hasOwn(argument, key))
  if (missing !== undefined) throw new TypeError(`${name} needs '${missing}'`)
  return argument
}

/** Copies values for a function of the caller, which may change them. */
export function copiesOf(values: readonly unknown[]): readonly unknown[] {
  return values.map((value) => cloneValue(value))
}

/** Copies what a function of the caller has returned. @throws TypeError if no document can hold it */
export function returned(value: unknown, name: string): unknown {
  const copy = cloneValue(value)
  if (copy !== undefined) checkStorable(copy, name)
  return copy
}

function checkStorable(value: unknown, name: string): void {
  const type = typeOf(value)
  if (type === Type.array) for (const element of value as readonly unknown[]) checkStorable(element, name)
  else if (type === Type.object) for (const field of Object.values(value as Document)) checkStorable(field, name)
  else if (type === Type.unsupported || (type === Type.date && Number.isNaN(timeOf(value)))) {
    const what = type === Type.date ? 'an invalid date' : `a value of type ${describe(value)}`
    throw new TypeError(`the function of ${name} returned ${what}, which no document can hold`)
  }
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

/**
 * Whether a value is null or missing, which makes the result null. As in MongoDB, values before the first such one are
 * examined, values after it are not.
 * @param examine throws for a value that the operator does not accept
 */
export function hasNil(values: readonly unknown[], examine: (value: unknown) => unknown): boolean {
  const first = values.findIndex(isNil)
  if (first < 0) return false
  for (let i = 0; i < first; i++) examine(values[i])
  return true
}

export function isNumber(value: unknown): value is Numeric {
  return value !== undefined && typeOf(value) === Type.number
}

/** @throws TypeError unless it is an array */
export function arrayOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new TypeError(`${what} takes an array, got ${describe(value)}`)
}

/** Returns null if one is null or missing. @throws TypeError for the first other value that is not an array */
export function arraysOf(values: readonly unknown[], what: string): readonly (readonly unknown[])[] | null {
  const examine = (value: unknown): readonly unknown[] => arrayOf(value, what)
  return hasNil(values, examine) ? null : values.map(examine)
}

/** @throws TypeError unless it is a string */
export function stringOf(value: unknown, what: string): string {
  if (value !== undefined && typeOf(value) === Type.string) return String(value)
  throw new TypeError(`${what} takes a string, got ${describe(value)}`)
}

/** @throws TypeError unless it is a 32-bit integer of at least `least` */
export function integerOf(value: unknown, what: string, least = -(2 ** 31)): number {
  const number = isNumber(value) ? Number(String(unwrapNumber(value))) : Number.NaN
  if (Number.isInteger(number) && number >= least && number < 2 ** 31) return number
  const range = least === -(2 ** 31) ? '' : ` ≥ ${least}`
  throw new TypeError(`${what} takes a whole number${range}, got ${isNumber(value) ? String(value) : describe(value)}`)
}

/** Reads a maximum number of results. @throws TypeError unless it is a whole number of 64 bits, at least 1 */
export function limitOf(value: unknown, what: string): number {
  const whole = isNumber(value) ? exactInt64(value) : undefined
  if (whole !== undefined && whole >= 1n) return Number(whole)
  throw new TypeError(`${what} takes a whole number ≥ 1, got ${isNumber(value) ? String(value) : describe(value)}`)
}

/** @throws TypeError unless it is a number */
export function numberOf(value: unknown, what: string): ReturnType<typeof unwrapNumber> {
  if (isNumber(value)) return unwrapNumber(value)
  throw new TypeError(`${what} takes a number, got ${describe(value)}`)
}

export function describe(value: unknown): string {
  return value === undefined ? 'nothing' : describeType(value)
}

function countOf(least: number, most: number): string {
  if (least === most) return least === 1 ? 'one argument' : `${least} arguments`
  return most === Number.POSITIVE_INFINITY ? `at least ${least} arguments` : `${least} to ${most} arguments`
}
