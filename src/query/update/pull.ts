/** Operators that remove elements from arrays: `$pull` by condition, `$pullAll` by value. */
import { equalValues, type StringOrder } from '../../model/compare.ts'
import { isPlainObject, Type, typeOf } from '../../model/types.ts'
import { describeType, filterError } from '../errors.ts'
import { compileFilter } from '../filter.ts'
import { ValueSet } from '../value-set.ts'
import { oneInOrder } from '../values-in-order.ts'
import { absent, comparedOneByOne, type Edit, type UpdatePlace } from './types.ts'

type ElementTest = (element: unknown) => boolean

/**
 * Removes elements that equal the operand if it is a value; otherwise those that match it, as a regular expression, an
 * operator expression such as `{ $gte: 5 }`, or a filter for elements that are documents.
 */
export function compilePull(operand: unknown, place: UpdatePlace, order?: StringOrder): Edit {
  return without(compileElementTest(operand, order), place)
}

export function compilePullAll(operand: unknown, place: UpdatePlace, order?: StringOrder): Edit {
  if (!Array.isArray(operand)) throw filterError('BadValue', place, `takes an array, not ${describeType(operand)}`)
  if (operand.length > comparedOneByOne) {
    if (order !== undefined) return without(oneInOrder(operand, order), place)
    const pulled = new ValueSet(operand)
    return without((element) => pulled.has(element), place)
  }
  return without((element) => operand.some((value) => equalValues(element, value, order)), place)
}

function compileElementTest(operand: unknown, order: StringOrder | undefined): ElementTest {
  if (isPlainObject(operand)) {
    return isElementCondition(operand) ? elementTest(operand, order) : documentTest(operand, order)
  }
  if (typeOf(operand) === Type.regex) return elementTest(operand, order)
  return (element) => equalValues(element, operand, order)
}

/** Operators, except those that combine whole filters, apply to the element itself. */
function isElementCondition(operand: object): boolean {
  const first = Object.keys(operand)[0]
  return first?.startsWith('$') === true && !['$and', '$or', '$nor', '$comment', '$expr', '$where'].includes(first)
}

/** Tests the element as a field's value: an element that is an array also passes by its own elements. */
function elementTest(condition: unknown, order: StringOrder | undefined): ElementTest {
  const { matches } = compileFilter({ element: condition }, { order })
  return (element) => matches({ element })
}

function documentTest(filter: object, order: StringOrder | undefined): ElementTest {
  const { matches } = compileFilter(filter, { order })
  return (element) => isPlainObject(element) && matches(element)
}

function without(isPulled: ElementTest, place: UpdatePlace): Edit {
  return (current) => {
    if (current === absent) return absent
    if (!Array.isArray(current)) {
      throw filterError('BadValue', place, `cannot be applied to a value of non-array type ${describeType(current)}`)
    }
    const kept = current.filter((element) => !isPulled(element ?? null))
    return kept.length === current.length ? current : kept
  }
}
