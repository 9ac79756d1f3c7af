/** ObjectIds of whatever version of bson: told by their `_bsontype`, and asked for their digits. */
import { PetalError } from './errors.ts'

const allDigits = /^[0-9a-f]{24}$/i

const bytesOfId = 12

/** The 12 bytes. @throws PetalError BadValue as objectIdDigits() */
export function objectIdBytes(value: unknown): Uint8Array {
  const { id } = value as { readonly id?: unknown }
  if (id instanceof Uint8Array && id.length === bytesOfId) return id
  // Others keep their bytes in another way.
  const digits = objectIdDigits(value)
  return Uint8Array.from({ length: bytesOfId }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16))
}

/**
 * The 24 hexadecimal digits, in lower case. Not by toJSON(), which applications give their own.
 * @throws PetalError BadValue for a value that only says that it is an ObjectId
 * @example
 * objectIdDigits(new ObjectId('00112233445566778899aabb')) // '00112233445566778899aabb'
 */
export function objectIdDigits(value: unknown): string {
  const hex = (value as { toHexString?(): unknown }).toHexString?.()
  // They are hashed: the same id is to have the same, whoever wrote it.
  if (typeof hex === 'string' && allDigits.test(hex)) return hex.toLowerCase()
  throw new PetalError('BadValue', `An ObjectId has 24 hexadecimal digits, not ${String(hex)}`)
}
