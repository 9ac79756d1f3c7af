/** ObjectIds of whatever version of bson: told by their `_bsontype`, and asked for their digits. */
import { PetalError } from './errors.ts'

const digits = /^[0-9a-f]{24}$/i

/**
 * The 24 hexadecimal digits. Not by toJSON(), which applications give their own.
 * @throws PetalError BadValue for a value that only says that it is an ObjectId
 * @example
 * objectIdDigits(new ObjectId('00112233445566778899aabb')) // '00112233445566778899aabb'
 */
export function objectIdDigits(value: unknown): string {
  const hex = (value as { toHexString?(): unknown }).toHexString?.()
  if (typeof hex === 'string' && digits.test(hex)) return hex
  throw new PetalError('BadValue', `An ObjectId has 24 hexadecimal digits, not ${String(hex)}`)
}
