/**
 * Copies bytes in steps of sixteen, up to sixteen more than `length`, which the caller has room for. For short copies
 * memory.copy() takes longer: it is a call out of WebAssembly.
 */
@inline
export function copy(from: usize, to: usize, length: u32): void {
  const end = to + <usize>length
  do {
    v128.store(to, v128.load(from))
    from += 16
    to += 16
  } while (to < end)
}
