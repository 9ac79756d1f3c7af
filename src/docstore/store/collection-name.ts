/** Which names collections may have. */
import { PetalError } from '../../model/errors.ts'
import { describeType } from '../../model/types.ts'

const maxNameBytes = 255
/** MongoDB keeps such names for itself: no database that is moved there may have one. */
const reservedPrefix = 'system.'

/** @throws PetalError InvalidNamespace for a name that MongoDB rejects, or that has no unambiguous UTF-8 encoding */
export function checkCollectionName(name: unknown): asserts name is string {
  if (typeof name !== 'string') throw invalidName(`must be a string, not ${describeType(name)}`)
  if (name === '') throw invalidName('must not be empty')
  if (name.includes('$')) throw invalidName(`must not contain '$': '${name}'`)
  if (name.includes('\0')) throw invalidName('must not contain the null character')
  if (/\p{Surrogate}/u.test(name)) throw invalidName('must be well-formed, without lone surrogates')
  if (name.startsWith('.') || name.endsWith('.')) throw invalidName(`must not start or end with '.': '${name}'`)
  const bytes = new TextEncoder().encode(name).length
  if (bytes > maxNameBytes) throw invalidName(`must have at most ${maxNameBytes} bytes, has ${bytes}`)
}

/**
 * For the name of a collection that is created, replaced or renamed by a call. Collections that have a reserved name
 * already remain usable.
 * @throws PetalError InvalidNamespace as checkCollectionName(), and for a reserved name
 */
export function checkNewCollectionName(name: unknown): asserts name is string {
  checkCollectionName(name)
  if (name.startsWith(reservedPrefix)) {
    throw invalidName(`must not start with '${reservedPrefix}', which is reserved: '${name}'`)
  }
}

function invalidName(why: string): PetalError {
  return new PetalError('InvalidNamespace', `A collection name ${why}`)
}
