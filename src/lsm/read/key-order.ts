/**
 * The best order for looking up many keys: adjacent keys share tables and blocks, which are then at hand, or read once
 * if nothing is cached.
 *
 * It is key order except for some keys that differ late: sorting by whole keys would cost more than it gains.
 */
import { headOf } from '../format/key-heads.ts'

/** A number has 53 bits, of which the head of the key takes 32. */
const maxKeys = 2 ** 21

/** A permutation of the positions in `keys`. */
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

/** Length of the common prefix of both keys, at most `limit`. */
function sharedLength(a: Uint8Array, b: Uint8Array, limit: number): number {
  const end = Math.min(limit, b.length)
  for (let i = 0; i < end; i++) if (a[i] !== b[i]) return i
  return end
}
