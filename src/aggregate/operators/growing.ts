/**
 * Lets `$reduce` add to its value in place, where copying it for each element would take time that grows with the square
 * of their number: `{ $concatArrays: ['$$value', …] }`, and the same with `$setUnion` and `$mergeObjects`.
 *
 * Invariants:
 * 1. Only a value is changed that such an operator made in the same evaluation of the same `$reduce`, and that became
 *    the result of an element unchanged: no document, constant or variable has it.
 * 2. Nothing else refers to it: an operator changes it only where no operand, and no variable that an operand may read,
 *    can hold the value itself.
 */
import { type Document, isPlainObject } from '../../model/types.ts'
import { type AccumulatorClass, accumulatorClass } from '../accumulators.ts'
import type { GroupKey } from '../group-key.ts'
import type { LoopGuard } from '../loop-guard.ts'
import { concatenated } from './arrays.ts'
import { arraysOf, type Operator } from './operator.ts'
import { addToSet } from './sets.ts'

const reference = '$$value'

/** The value that belongs to a `$reduce` alone. */
export class Growing {
  /** undefined while it has none. */
  #own: unknown
  /** Keys of its elements, if it is a set. */
  #keys: Set<GroupKey> | undefined

  /** Call for each result: only one that is the value itself may be changed by the next. */
  keepOnly(result: unknown): void {
    if (result !== this.#own) this.release()
  }

  release(): void {
    this.#own = undefined
    this.#keys = undefined
  }

  /**
   * Operators to use in an `in` instead of the usual ones, by their arguments.
   * @param body of a `$reduce`
   */
  operators(body: unknown): ReadonlyMap<unknown, Operator> {
    const found = new Map<unknown, Operator>()
    for (const { name, operands } of additions(body)) found.set(operands, this.#operator(additionsByName[name] as Add))
    return found
  }

  #operator(add: Add): Operator {
    return (argument, compiler, name) => {
      const operands = (argument as readonly unknown[]).map((each) => compiler.compile(each))
      return (document) => {
        const values = operands.map((operand) => operand(document))
        const isOwn = this.#own !== undefined && values[0] === this.#own
        const { result, keys } = add(values, name, compiler.loops, isOwn, this.#keys)
        this.#own = result ?? undefined
        this.#keys = keys
        return result
      }
    }
  }
}

interface Added {
  readonly result: unknown
  readonly keys?: Set<GroupKey> | undefined
}

/** @param isOwn whether the first value may be changed @param keys of its elements, if it is a set */
type Add = (
  values: readonly unknown[],
  name: string,
  loops: LoopGuard,
  isOwn: boolean,
  keys: Set<GroupKey> | undefined
) => Added

const additionsByName: Readonly<Record<string, Add>> = {
  $concatArrays: (values, name, loops, isOwn) => {
    if (!isOwn) return { result: concatenated(values, name, loops) }
    const arrays = arraysOf(values, name)
    if (arrays === null) return { result: null }
    const [own, ...others] = arrays as [unknown[], ...(readonly unknown[])[]]
    for (const other of others) {
      for (const element of other) own.push(element)
      loops.countCopies(other.length)
    }
    return { result: own }
  },
  $setUnion: (values, name, loops, isOwn, keys) => {
    const arrays = arraysOf(values, name)
    if (arrays === null) return { result: null }
    if (!isOwn || keys === undefined) {
      const [result, seen]: [unknown[], Set<GroupKey>] = [[], new Set()]
      for (const array of arrays) addToSet(result, seen, array, loops)
      return { result, keys: seen }
    }
    const [own, ...others] = arrays as [unknown[], ...(readonly unknown[])[]]
    for (const other of others) addToSet(own, keys, other, loops)
    return { result: own, keys }
  },
  $mergeObjects: (values, name, _loops, isOwn) => {
    const merged = new (accumulatorClass(name) as AccumulatorClass)()
    // Another operator may have made it, as an array.
    const own = isOwn && isPlainObject(values[0]) ? values[0] : undefined
    for (const value of own === undefined ? values : values.slice(1)) merged.add(value)
    const result = merged.result() as Document
    return { result: own === undefined ? result : Object.assign(own, result) }
  }
}

interface Addition {
  readonly name: string
  readonly operands: readonly unknown[]
}

/** Finds those that are the result of a body, and whose operands cannot hold the value. */
function additions(body: unknown): readonly Addition[] {
  const found = operation(body)
  if (found === undefined) return []
  const [name, argument] = found
  switch (name) {
    case '$cond':
      return (Array.isArray(argument) ? argument.slice(1) : fields(argument, 'then', 'else')).flatMap(additions)
    case '$switch': {
      const branches = isPlainObject(argument) && Array.isArray(argument.branches) ? argument.branches : []
      return [...branches.flatMap((branch) => fields(branch, 'then')), ...fields(argument, 'default')].flatMap(
        additions
      )
    }
    case '$let': {
      const [vars] = fields(argument, 'vars')
      const isHidden = isPlainObject(vars) && Object.hasOwn(vars, reference.slice(2))
      return isHidden || mayHold(vars) ? [] : fields(argument, 'in').flatMap(additions)
    }
  }
  if (!Object.hasOwn(additionsByName, name) || !Array.isArray(argument)) return []
  const [first, ...others] = argument as readonly unknown[]
  return first === reference && others.length > 0 && !others.some(mayHold) ? [{ name, operands: argument }] : []
}

/** Their results are numbers, booleans or strings. */
const withPlainResult = namesIn(`
  $eq $ne $lt $lte $gt $gte $cmp $and $or $not $in $isArray $isNumber $type $size $indexOfArray $setEquals $setIsSubset
  $allElementsTrue $anyElementTrue $sum $avg`)

/** Their results may hold what an operand holds, but not the operand itself. */
const withParts = namesIn(`
  $first $last $arrayElemAt $slice $reverseArray $sortArray $firstN $lastN $minN $maxN $filter $concatArrays $setUnion
  $setIntersection $setDifference $getField $objectToArray $mergeObjects`)

function namesIn(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}

/** Whether the result of an expression may be the value, or hold it. */
function mayHold(expression: unknown): boolean {
  if (expression === reference) return true
  if (Array.isArray(expression)) return expression.some(mayHold)
  if (!isPlainObject(expression)) return false
  const [name = '', argument] = operation(expression) ?? []
  if (name === '$literal' || withPlainResult.has(name)) return false
  if (withParts.has(name)) return operandsOf(argument).some(mayHoldBelow)
  if (name === '$map') return fields(argument, 'input').some(mayHoldBelow) || fields(argument, 'in').some(mayHold)
  // In its `in`, `$$value` is another one.
  if (name === '$reduce')
    return fields(argument, 'input').some(mayHoldBelow) || fields(argument, 'initialValue').some(mayHold)
  return Object.values(expression).some(mayHold)
}

function mayHoldBelow(operand: unknown): boolean {
  return operand !== reference && mayHold(operand)
}

function operandsOf(argument: unknown): readonly unknown[] {
  if (Array.isArray(argument)) return argument
  return isPlainObject(argument) && operation(argument) === undefined ? Object.values(argument) : [argument]
}

/** Returns undefined for anything but an operator. */
function operation(expression: unknown): readonly [name: string, argument: unknown] | undefined {
  if (!isPlainObject(expression)) return undefined
  const [entry, ...others] = Object.entries(expression)
  return entry?.[0].startsWith('$') && others.length === 0 ? entry : undefined
}

/** The values of those fields that an object has. */
function fields(object: unknown, ...names: readonly string[]): readonly unknown[] {
  return isPlainObject(object) ? names.filter((name) => Object.hasOwn(object, name)).map((name) => object[name]) : []
}
