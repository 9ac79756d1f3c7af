/**
 * The order in which many keys are best looked up: neighbours share tables and blocks, which then are at hand, or read
 * once where nothing is cached.
 *
 * It is that of the keys, but for some that differ late: sorting whole keys would cost more than it brings.
 */
import { headOf } from '../format/key-heads.ts'

/** A number has 53 bits, of which the key takes 32. */
const maxKeys = 2 ** 21

/** Each position among the keys once. */
export function lookupOrder(keys: readonly Uint8Array[]): Float64Array {
  const count = keys.length
  const order = new Float64Array(count)
  const first = keys[0]
  if (first === undefined || count > maxKeys) return order.map((_, i) => i)
  let shared = first.length
  for (let i = 1; i < count && shared > 0; i++) shared = sharedLength(first, keys[i]!, shared)
  for (let i = 0; i < count; i++) order[i] = headOf(keys[i]!, shared, keys[i]!.length) * maxKeys + i
  order.sort()
  for (let i = 0; i < count; i++) order[i]! %= maxKeys
  return order
}

/** Bytes that both keys begin with, at most `limit`. */
function sharedLength(a: Uint8Array, b: Uint8Array, limit: number): number {
  const end = Math.min(limit, b.length)
  for (let i = 0; i < end; i++) if (a[i] !== b[i]) return i
  return end
}
