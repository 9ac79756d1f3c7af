/** Short keys between blocks. */

/**
 * A key at or after `last` and before `next`, as short as is easy.
 * REQUIRES: last ≤ next. For equal keys (versions of one key in two blocks) it is that key.
 * @param shared bytes that the two keys have in common
 * @returns bytes that may belong to one of the two: copy what is kept
 */
export function separator(last: Uint8Array, next: Uint8Array, shared: number): Uint8Array {
  const short = shared + 1
  if (short >= last.length) return last
  // A proper prefix of `next` is before it, and this one has a greater byte than `last` has there.
  if (short < next.length) return next.subarray(0, short)
  if (last[shared]! + 1 >= next[shared]!) return last
  const between = Uint8Array.from(last.subarray(0, short))
  between[shared]!++
  return between
}
