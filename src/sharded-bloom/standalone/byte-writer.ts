/** Writes LEB128 varints up to 2^32. */

export function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++
  return bytes
}

/** @returns the offset just past the written bytes */
export function writeVarint(out: Uint8Array, offset: number, value: number): number {
  let at = offset
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out[at++] = (rest % 0x80) | 0x80
  out[at++] = rest
  return at
}
