/** Numbers in [0, 1) determined by the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Numbers in [0, below) determined by the seed. */
export function numbersBelow(seed: number): (below: number) => number {
  let state = Math.imul(seed, 0x9e3779b1) | 1
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return Math.floor(((state >>> 0) / 2 ** 32) * below)
  }
}
