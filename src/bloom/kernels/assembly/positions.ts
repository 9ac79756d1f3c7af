/** Lists of positions; the contract is in ../kernels.ts, the invariants in ./index.ts. */

/** Where enumerate() lists the words that are not zero: 2 KiB of the kernels' own workspace. */
const WORDS: usize = 4096

/**
 * A processor cannot foresee which words have bits, nor how many: with one bit in a hundred, a loop over the bits of each
 * word spends most of its time on wrong guesses. So the words that are not zero are listed first, without a branch, and
 * four positions of each stored at once, of which those that are none are overwritten by the next word's.
 */
export function enumerate(address: usize, bytes: u32, out: usize, max: u32, first: u32): u32 {
  const words = listWords(address, bytes)
  const end = out + (<usize>max << 1)
  let next = out
  for (let w = WORDS; w < words && next < end; w += 2) {
    const offset = <usize>load<u16>(w)
    let word = load<u64>(address + offset)
    const base = first + (<u32>offset << 3)
    let at = next
    next += <usize>popcnt(word) << 1
    for (;;) {
      store<u16>(at, base + <u32>ctz(word))
      word &= word - 1
      store<u16>(at, base + <u32>ctz(word), 2)
      word &= word - 1
      store<u16>(at, base + <u32>ctz(word), 4)
      word &= word - 1
      store<u16>(at, base + <u32>ctz(word), 6)
      word &= word - 1
      if (word == 0) break
      at += 8
    }
  }
  return <u32>((min(next, end) - out) >> 1)
}

/** Lists the offsets of the words that are not zero, passing over eight that are at once. @returns the end of the list */
function listWords(address: usize, bytes: u32): usize {
  let next = WORDS
  let offset: usize = 0
  for (const wide = <usize>bytes & ~63; offset < wide; offset += 64) {
    const at = address + offset
    const any = v128.or(
      v128.or(v128.load(at), v128.load(at, 16)),
      v128.or(v128.load(at, 32), v128.load(at, 48))
    )
    if (!v128.any_true(any)) continue
    for (let word: usize = 0; word < 64; word += 8) {
      store<u16>(next, <u16>(offset + word))
      next += <usize>(load<u64>(at + word) != 0) << 1
    }
  }
  for (; offset < <usize>bytes; offset += 8) {
    store<u16>(next, <u16>offset)
    next += <usize>(load<u64>(address + offset) != 0) << 1
  }
  return next
}
