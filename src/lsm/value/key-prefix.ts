/** Key prefixes, and the key ranges that may contain them. */
import { compareKeys } from '../format/entry.ts'

/** Whether a key in [smallest, largest] may begin with the prefix. */
export function mayHavePrefix(smallest: Uint8Array, largest: Uint8Array, prefix: Uint8Array): boolean {
  if (prefix.length === 0) return true
  return compareKeys(largest, prefix) >= 0 && compareKeys(smallest.subarray(0, prefix.length), prefix) <= 0
}
