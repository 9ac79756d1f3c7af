/** Short separator keys between blocks. */

/**
 * A reasonably short key at or after `last` and before `next`.
 * REQUIRES: last ≤ next. For equal keys (versions of one key in two blocks) the result is that key.
 * @param shared length of the keys' common prefix
 * @returns bytes that may belong to one of the two: copy to keep
 */
export function separator(last: Uint8Array, next: Uint8Array, shared: number): Uint8Array {
  const short = shared + 1
  if (short >= last.length) return last
  // A proper prefix of `next` is before `next`, and this one has a greater byte than `last` at `shared`.
  if (short < next.length) return next.subarray(0, short)
  if (last[shared]! + 1 >= next[shared]!) return last
  const between = Uint8Array.from(last.subarray(0, short))
  between[shared]!++
  return between
}

/**
 * Whether a block is separated by its last key instead. A cursor that seeks a key between two blocks reads the first
 * unless that key is behind the separator, and finds nothing in either: it should be the smaller one.
 * @param payloadBytes of the block
 * @param nextValueBytes of the entry that follows it
 * @param blockBytes at which a block is ended
 */
export function isSeparatedByLast(payloadBytes: number, nextValueBytes: number, blockBytes: number): boolean {
  return payloadBytes > 2 * blockBytes && payloadBytes > nextValueBytes
}
