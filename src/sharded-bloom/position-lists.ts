/**
 * Copies of lists of positions that outlive an evaluation.
 *
 * V8 keeps up to 64 bytes of a typed array in its own heap. Behind every longer one is a buffer, which costs a few
 * microseconds to get and to give back: as much as finding the positions. So lists of some length share buffers.
 *
 * A list that is kept keeps its buffer. It is small, so that a paused cursor keeps little.
 */

/** Positions of a shared buffer: 32 KiB. */
const bufferPositions = 16_384
/** Longer lists have a buffer of their own. */
const maxShared = bufferPositions / 8
/** Positions that V8 keeps in its heap. */
const maxInHeap = 32

let buffer = new Uint16Array(0)
let used = 0

/** Copies `count` positions from index `from` on. */
export function copyPositions(source: Uint16Array, from: number, count: number): Uint16Array {
  if (count <= maxInHeap) return copyFew(source, from, count)
  if (count > maxShared) return new Uint16Array(source.subarray(from, from + count))
  if (used + count > buffer.length) {
    buffer = new Uint16Array(bufferPositions)
    used = 0
  }
  buffer.set(source.subarray(from, from + count), used)
  const list = buffer.subarray(used, used + count)
  used += count
  return list
}

/** A loop over few elements takes less time than the views that set() needs. */
function copyFew(source: Uint16Array, from: number, count: number): Uint16Array {
  const list = new Uint16Array(count)
  for (let i = 0; i < count; i++) list[i] = source[from + i]!
  return list
}
