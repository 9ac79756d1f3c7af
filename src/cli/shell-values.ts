/** Values that JavaScript has no spelling for, by the names that shells of MongoDB know: `new` may be left out. */
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

/** The class, which makes one when it is called, too. */
function withoutNew(of: Class): Class {
  return new Proxy(of, { apply: (target, _, given) => Reflect.construct(target, given) })
}

/** Now, or what a text of ISO 8601 says: in UTC where it says no zone. @throws PetalError BadValue */
function ISODate(text?: string): Date {
  if (text === undefined) return new Date()
  const hasZone = !/\d:\d/.test(text) || /(?:Z|[+-]\d\d:?\d\d)$/i.test(text)
  const date = new Date(hasZone ? text : `${text.replace(' ', 'T')}Z`)
  if (Number.isNaN(date.getTime())) throw new PetalError('BadValue', `'${text}' is no date of ISO 8601`)
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
