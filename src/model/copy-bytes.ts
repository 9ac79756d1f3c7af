/** Copies bytes in the fastest way for the given length. */

/** From this many bytes on, a call into C++ beats a loop. */
const longCopy = 48

/** Copies source[start, end) to target[at, …). REQUIRES: they do not overlap. */
export function copyBytes(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): void {
  if (end - start >= longCopy) {
    target.set(source.subarray(start, end), at)
    return
  }
  for (let from = start, to = at; from < end; from++, to++) target[to] = source[from]!
}

/** From this many bytes on, fill() beats set() where memory is shared. */
const longSharedCopy = 256

/**
 * Copies the whole source to target[at, …), where either is memory that threads share: TypedArray's set() copies such
 * memory word by word with atomic accesses, which for long copies costs nine times as much as Buffer's fill().
 * REQUIRES: nobody writes to either meanwhile.
 */
export function copyShared(source: Uint8Array, target: Uint8Array, at: number): void {
  if (source.length < longSharedCopy) copyBytes(source, 0, source.length, target, at)
  else if (typeof Buffer === 'undefined') target.set(source, at)
  else bufferOf(target).fill(source, at, at + source.length)
}

function bufferOf(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
