/**
 * Operators on whole fields: `$set`, `$setOnInsert`, `$unset`, `$currentDate`. ($rename has two places: see rename.ts.)
 */
import { Timestamp } from 'bson'
import { type Document, isPlainObject } from '../../model/types.ts'
import { describeType, filterError } from '../errors.ts'
import { absent, type Edit, type UpdatePlace } from './types.ts'

/** Also for `$setOnInsert`. */
export function compileSet(operand: unknown): Edit {
  return () => operand
}

/** Ignores the operand. */
export function compileUnset(): Edit {
  return () => absent
}

/** The operand is a boolean, or `{ $type: 'date' | 'timestamp' }`. */
export function compileCurrentDate(operand: unknown, place: UpdatePlace): Edit {
  if (typeof operand === 'boolean') return (_, { now }) => new Date(now.getTime())
  if (!isPlainObject(operand)) {
    const problem = `takes true or { $type: 'date' | 'timestamp' }, not ${describeType(operand)}`
    throw filterError('BadValue', place, problem)
  }
  return typeOfCurrentDate(operand, place) === 'date'
    ? (_, { now }) => new Date(now.getTime())
    : (_, { now }) => new Timestamp({ t: Math.floor(now.getTime() / 1000), i: 1 })
}

function typeOfCurrentDate(operand: Document, place: UpdatePlace): 'date' | 'timestamp' {
  const unknownKey = Object.keys(operand).find((key) => key !== '$type')
  if (unknownKey !== undefined) throw filterError('BadValue', place, `unknown option '${unknownKey}'`)
  const { $type: type } = operand
  if (type === 'date' || type === 'timestamp') return type
  throw filterError(
    'BadValue',
    place,
    `$type must be 'date' or 'timestamp', not ${JSON.stringify(type) ?? 'undefined'}`
  )
}
