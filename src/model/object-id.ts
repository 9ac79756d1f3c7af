/** Reads ObjectIds of any version of bson: recognized by their `_bsontype`, and read through their digits. */
import { PetalError } from './errors.ts'

const allDigits = /^[0-9a-f]{24}$/i

const bytesOfId = 12

/** The 12 bytes. @throws PetalError BadValue as objectIdDigits() */
export function objectIdBytes(value: unknown): Uint8Array {
  const { id } = value as { readonly id?: unknown }
  if (id instanceof Uint8Array && id.length === bytesOfId) return id
  // Other versions store their bytes differently.
  const digits = objectIdDigits(value)
  return Uint8Array.from({ length: bytesOfId }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16))
}

/**
 * The 24 hexadecimal digits, in lower case. Does not use toJSON(), which applications override.
 * @throws PetalError BadValue for a value that merely claims to be an ObjectId
 * @example
 * objectIdDigits(new ObjectId('00112233445566778899aabb')) // '00112233445566778899aabb'
 */
export function objectIdDigits(value: unknown): string {
  const hex = (value as { toHexString?(): unknown }).toHexString?.()
  // Digits are hashed: the same id has to give the same digits, whichever library created it.
  if (typeof hex === 'string' && allDigits.test(hex)) return hex.toLowerCase()
  throw new PetalError('BadValue', `An ObjectId has 24 hexadecimal digits, not ${String(hex)}`)
}
