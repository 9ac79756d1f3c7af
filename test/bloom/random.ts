/** Seeded random numbers for tests. The seed is printed and can be set by PETALDB_SEED. */

export interface Random {
  /** Uniform int32. */
  next(): number
  /** Uniform in [0, bound). */
  below(bound: number): number
}

/** sfc32 (Doty-Humphrey, PractRand). */
export function createRandom(seed: number): Random {
  let a = seed | 0
  let b = 0x9e3779b9 | 0
  let c = 0x243f6a88 | 0
  let counter = 1
  const next = () => {
    const result = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + result) | 0
    return result
  }
  for (let i = 0; i < 16; i++) next()
  return { next, below: (bound) => Math.floor(((next() >>> 0) / 2 ** 32) * bound) }
}

/** A generator seeded from PETALDB_SEED or the clock; prints `seed N`. */
export function seededRandom(): Random {
  const seed = Number(process.env.PETALDB_SEED ?? Date.now() % 1_000_000)
  console.log(`seed ${seed}`)
  return createRandom(seed)
}
