/** BSON values under the names that MongoDB's shells use; `new` may be omitted. */
import { Binary, Decimal128, Double, Int32, Long, MaxKey, MinKey, ObjectId, Timestamp, UUID } from 'bson'
import { PetalError } from '../model/errors.ts'

type Class = new (...given: never[]) => object

export function shellValues(): Readonly<Record<string, unknown>> {
  const classes: Readonly<Record<string, Class>> = {
    Binary,
    Decimal128,
    Double,
    Int32,
    Long,
    MaxKey,
    MinKey,
    ObjectId,
    Timestamp,
    UUID
  }
  const callable = Object.entries(classes).map(([name, of]) => [name, withoutNew(of)])
  return { ...Object.fromEntries(callable), ISODate, NumberDecimal, NumberInt, NumberLong }
}

/** Returns the class, which can also be called without `new`. */
function withoutNew(of: Class): Class {
  return new Proxy(of, { apply: (target, _, given) => Reflect.construct(target, given) })
}

/**
 * Returns the current date, or the date of an ISO 8601 string, in UTC unless it has a zone. @throws PetalError BadValue
 */
function ISODate(text?: string): Date {
  if (text === undefined) return new Date()
  const hasZone = !/\d:\d/.test(text) || /(?:Z|[+-]\d\d:?\d\d)$/i.test(text)
  const date = new Date(hasZone ? text : `${text.replace(' ', 'T')}Z`)
  if (Number.isNaN(date.getTime())) throw new PetalError('BadValue', `'${text}' is not an ISO 8601 date`)
  return date
}

function NumberLong(value: string | number | bigint = 0): Long {
  return typeof value === 'number' ? Long.fromNumber(value) : Long.fromString(String(value))
}

function NumberInt(value: string | number = 0): Int32 {
  return new Int32(value)
}

function NumberDecimal(value: string | number = 0): Decimal128 {
  return Decimal128.fromString(String(value))
}
