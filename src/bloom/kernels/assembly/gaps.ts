/** Gap lists; the contract of decodeGaps() is in ../kernels.ts. */

/** Positions are 16-bit: the longest row has 65,536 bits. */
const MAX_POSITION: u32 = 65535

export function decodeGaps(address: usize, length: u32, out: usize): i32 {
  return readGaps(address, length, MAX_POSITION, out)
}

/** As decodeGaps(), but positions beyond `last` are invalid, too. */
export function readGaps(address: usize, length: u32, last: u32, out: usize): i32 {
  const end = address + <usize>length
  let next: u32 = 0
  let count: i32 = 0
  while (address < end) {
    let byte = <u32>load<u8>(address++)
    let gap = byte & 127
    for (let shift: u32 = 7; byte > 127; shift += 7) {
      if (address == end || shift > 14) return -1
      byte = <u32>load<u8>(address++)
      gap |= (byte & 127) << shift
    }
    const position = next + gap
    if (position > last) return -1
    setBit(out, position)
    next = position + 1
    count++
  }
  return count
}

/**
 * Writes the bits of a row that differ from `flip`, at positions below `positions`, as a gap list.
 * @param max bytes written at most
 * @returns bytes written, or −1 if they would exceed `max`
 */
export function writeGaps(address: usize, bytes: u32, flip: u64, positions: u32, out: usize, max: u32): i32 {
  const end = out + <usize>max
  let at = out
  let next: u32 = 0
  for (let offset: usize = 0; offset < <usize>bytes; offset += 8) {
    let word = load<u64>(address + offset) ^ flip
    while (word != 0) {
      const position = (<u32>offset << 3) + <u32>ctz(word)
      if (position >= positions) return <i32>(at - out)
      let gap = position - next
      for (; gap > 127; gap >>= 7) {
        if (at == end) return -1
        store<u8>(at++, <u8>(gap | 128))
      }
      if (at == end) return -1
      store<u8>(at++, <u8>gap)
      next = position + 1
      word &= word - 1
    }
  }
  return <i32>(at - out)
}

// @ts-ignore: decorator
@inline
export function setBit(row: usize, position: u32): void {
  const at = row + <usize>(position >> 3)
  store<u8>(at, load<u8>(at) | <u8>(<u32>1 << (position & 7)))
}
