/** What `$type` and `$toString` say of our values. */
import { type Document, Type, typeNames, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { isNil } from './expression-values.ts'

export function isObjectId(value: unknown): value is { toHexString(): string } {
  return value !== undefined && typeOf(value) === Type.objectId
}

/** Numbers are `int` where 32 bits hold them; a bigint is `long`. */
export function typeName(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeOf(value) !== Type.number) return typeNames[typeOf(value)]
  if (typeof value === 'number') return Number.isInteger(value) ? integerName(value) : 'double'
  const bsonType = typeof value === 'bigint' ? 'long' : String((value as Document)._bsontype)
  return bsonType === 'Decimal128' ? 'decimal' : bsonType === 'Int32' ? 'int' : bsonType.toLowerCase()
}

/** An integer that is too large for 64 bits can only be a double. */
function integerName(value: number): string {
  if (Object.is(value | 0, value)) return 'int'
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? 'long' : 'double'
}

/** null for null and missing. @throws TypeError for values that have no text */
export function textOf(value: unknown): string | null {
  if (isNil(value)) return null
  switch (typeOf(value)) {
    case Type.string:
    case Type.number:
    case Type.bool:
      return String(value)
    case Type.date:
      return (value as Date).toISOString()
    case Type.objectId:
      return (value as { toHexString(): string }).toHexString()
    default:
      throw new TypeError(`$toString takes a scalar, got ${describeType(value)}`)
  }
}
