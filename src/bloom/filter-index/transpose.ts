/** Transposes a square of bits. */

/**
 * Transposes in place: afterwards, bit c of words[r] is the former bit r of words[c]. Blocks of 16, 8, … 1 bits are
 * exchanged across the diagonal.
 * @param words 32 of them
 * @see Warren, Hacker's Delight, 2012, 7-3
 */
export function transpose32(words: Uint32Array): void {
  let mask = 0x0000ffff
  for (let size = 16; size !== 0; size >>>= 1, mask ^= mask << size) {
    for (let k = 0; k < 32; k = (k + size + 1) & ~size) {
      const exchanged = ((words[k]! >>> size) ^ words[k + size]!) & mask
      words[k] = words[k]! ^ (exchanged << size)
      words[k + size] = words[k + size]! ^ exchanged
    }
  }
}
