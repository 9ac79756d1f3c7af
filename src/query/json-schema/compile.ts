/** Compiles a schema to a closure that decides whether a value passes. REQUIRES: the value is not missing. */
import { decimalOf } from '../../model/arithmetic.ts'
import { isMultiple } from '../../model/decimal.ts'
import { unwrapNumber } from '../../model/numbers.ts'
import { type Document, type Numeric, Type, type TypeCode, typeOf } from '../../model/types.ts'
import { compileTest, every, some } from '../matcher.ts'
import { ownValue, type ValueTest } from '../path-values.ts'
import { hasType } from '../predicates.ts'
import { ValueSet } from '../value-set.ts'
import type { CountedType, Keyword, Schema } from './schema.ts'
import { unordered } from './unordered.ts'

export function compileSchema(schema: Schema): ValueTest {
  return every(schema.map(compileKeyword))
}

function compileKeyword(keyword: Keyword): ValueTest {
  switch (keyword.kind) {
    case 'type':
      return hasType(keyword.types)
    case 'enum': {
      const values = new ValueSet(keyword.values)
      return (value) => values.has(unordered(value))
    }
    case 'anyOf':
      return some(keyword.schemas.map(compileSchema))
    case 'oneOf':
      return exactlyOne(keyword.schemas.map(compileSchema))
    case 'not': {
      const test = compileSchema(keyword.schema)
      return (value) => !test(value)
    }
    case 'test':
      return ofType(keyword.type, compileTest(keyword.test))
    case 'multipleOf': {
      const { divisor } = keyword
      return ofType<Numeric>(Type.number, (value) => {
        const decimal = decimalOf(unwrapNumber(value))
        return decimal !== undefined && isMultiple(decimal, divisor)
      })
    }
    case 'count': {
      const { least, most } = keyword
      const count = counterOf(keyword.type)
      return ofType(keyword.type, (value) => {
        const found = count(value)
        return found >= least && found <= most
      })
    }
    case 'uniqueItems':
      return ofType(Type.array, areUnique)
    case 'firstItems': {
      const tests = keyword.schemas.map(compileSchema)
      return ofType<readonly unknown[]>(Type.array, (array) =>
        tests.every((test, i) => i >= array.length || test(array[i] ?? null))
      )
    }
    case 'itemsFrom': {
      const { start } = keyword
      const test = compileSchema(keyword.schema)
      return ofType<readonly unknown[]>(Type.array, (array) => {
        for (let i = start; i < array.length; i++) if (!test(array[i] ?? null)) return false
        return true
      })
    }
    default:
      return ofType(Type.object, compileObjectKeyword(keyword))
  }
}

type ObjectKeyword = Extract<
  Keyword,
  { readonly kind: 'required' | 'properties' | 'patternProperties' | 'otherProperties' | 'dependency' }
>

function compileObjectKeyword(keyword: ObjectKeyword): (object: Document) => boolean {
  switch (keyword.kind) {
    case 'required': {
      const { names } = keyword
      return (object) => names.every((name) => ownValue(object, name) !== undefined)
    }
    case 'properties': {
      const tests = [...keyword.schemas].map(([name, schema]) => ({ name, test: compileSchema(schema) }))
      return (object) =>
        tests.every(({ name, test }) => {
          const value = ownValue(object, name)
          return value === undefined || test(value)
        })
    }
    case 'patternProperties': {
      const { expression } = keyword.pattern
      return everyProperty((name) => expression.test(name), compileSchema(keyword.schema))
    }
    case 'otherProperties': {
      const { names, patterns } = keyword
      const isOther = (name: string): boolean =>
        !names.has(name) && !patterns.some(({ expression }) => expression.test(name))
      return everyProperty(isOther, compileSchema(keyword.schema))
    }
    case 'dependency': {
      const { name } = keyword
      const test = compileSchema(keyword.schema)
      return (object) => ownValue(object, name) === undefined || test(object)
    }
  }
}

function exactlyOne(tests: readonly ValueTest[]): ValueTest {
  return (value) => {
    let passed = 0
    for (const test of tests) if (test(value) && ++passed > 1) return false
    return passed === 1
  }
}

function counterOf(type: CountedType): (value: unknown) => number {
  switch (type) {
    case Type.string:
      return (value) => codePoints(String(value))
    case Type.array:
      return (value) => (value as readonly unknown[]).length
    case Type.object:
      return (value) => presentKeys(value as Document).length
  }
}

/** A lone surrogate counts as one code point. */
function codePoints(text: string): number {
  let count = text.length
  for (let i = 1; i < text.length; i++) if (isLow(text.charCodeAt(i)) && isHigh(text.charCodeAt(i - 1))) count--
  return count
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}

function areUnique(array: readonly unknown[]): boolean {
  const seen = new ValueSet()
  return array.every((element) => seen.add(unordered(element ?? null)))
}

function everyProperty(isMeant: (name: string) => boolean, test: ValueTest): (object: Document) => boolean {
  return (object) => presentKeys(object).every((name) => !isMeant(name) || test(object[name]))
}

function presentKeys(object: Document): readonly string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined)
}

/** Makes a test that values of other types pass. REQUIRES: values of the type are of type `Value`. */
function ofType<Value>(type: TypeCode, test: (value: Value) => boolean): ValueTest {
  return (value) => typeOf(value) !== type || test(value as Value)
}
