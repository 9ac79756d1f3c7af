/** Operators on the fields of objects. */
import { type Document, isPlainObject, Type, typeOf } from '../../model/types.ts'
import { isNil } from '../expression-values.ts'
import type { LoopGuard } from '../loop-guard.ts'
import { arrayOf, describe, fieldsOf, named, type Operators, stringOf, unary } from './operator.ts'

/** For a copy of an object: its fields cannot be counted in less time. */
const stepsOfCopy = 16

export const objectOperators: Operators = {
  $objectToArray: unary((value, name, loops) => {
    if (isNil(value)) return null
    if (!isPlainObject(value)) throw new TypeError(`${name} takes an object, got ${describe(value)}`)
    const entries = Object.entries(value)
    loops.count(entries.length)
    return entries.map(([k, v]) => ({ k, v }))
  }),
  $arrayToObject: unary((value, name, loops) => {
    if (isNil(value)) return null
    const elements = arrayOf(value, name)
    const result: Document = {}
    const isPairs = Array.isArray(elements[0])
    for (const element of elements) {
      loops.count()
      const [key, field] = isPairs ? pairOf(element, name) : fieldOf(element, name)
      result[keyOf(key, name)] = field
    }
    return result
  }),
  $getField: (argument, compiler, name) => {
    // An object that is not an operator contains named arguments; anything else is the field.
    const hasOptions = isPlainObject(argument) && !Object.keys(argument)[0]?.startsWith('$')
    const { field, input = '$$CURRENT' } = hasOptions
      ? fieldsOf(argument, name, ['field'], ['input'])
      : { field: argument }
    const [key, object] = [compiler.compile(field), compiler.compile(input)]
    return (document) => {
      const wanted = stringOf(key(document), `${name}: field`)
      const found = object(document)
      if (isNil(found)) return found
      return isPlainObject(found) && Object.hasOwn(found, wanted) ? found[wanted] : undefined
    }
  },
  $setField: named(['field', 'input', 'value'], [], withField),
  $unsetField: named(['field', 'input'], [], withField)
}

/** A missing value removes the field. */
function withField({ field, input, value }: Document, name: string, loops: LoopGuard): Document | null {
  loops.count(stepsOfCopy)
  const key = keyOf(field, name)
  if (isNil(input)) return null
  if (!isPlainObject(input)) throw new TypeError(`${name}: input takes an object, got ${describe(input)}`)
  if (value !== undefined) return { ...input, [key]: value }
  const { [key]: _removed, ...rest } = input
  return rest
}

function pairOf(element: unknown, name: string): readonly unknown[] {
  if (Array.isArray(element) && element.length === 2) return element
  throw new TypeError(
    `${name} takes only arrays [key, value], because its first element is one, got ${describe(element)}`
  )
}

function fieldOf(element: unknown, name: string): readonly unknown[] {
  if (isPlainObject(element) && Object.keys(element).length === 2 && 'k' in element && 'v' in element) {
    return [element.k, element.v]
  }
  throw new TypeError(`${name} takes objects { k, v } or arrays [key, value], got ${describe(element)}`)
}

function keyOf(value: unknown, name: string): string {
  if (value === undefined || typeOf(value) !== Type.string) {
    throw new TypeError(`${name}: a field name must be a string, got ${describe(value)}`)
  }
  const key = String(value)
  if (key === '__proto__' || key.includes('\0')) throw new TypeError(`${name}: '${key}' is not a valid field name`)
  return key
}
