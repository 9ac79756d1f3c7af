/**
 * One 64-bit hash per pair, behind one interface with two implementations.
 *
 * Seeds and results are two int32 halves, because JavaScript has no fast 64-bit integers. The caller seeds with the
 * hash of the pair's path, so that only the value is hashed for each pair; a hash is the same in every thread and
 * after every reopen, and is part of the file format.
 */
import { PetalError } from '../model/errors.ts'
import { shown } from '../model/invalid-option.ts'
import { MurmurHasher } from './murmur-hasher.ts'

export { rowNumbers } from './row-numbers.ts'

export const hashNames = ['murmur', 'farmhash'] as const

export type HashName = (typeof hashNames)[number]

/**
 * Leaves its result in `lo` and `hi` instead of returning it, so that hashing allocates nothing.
 * @example
 * const hasher = createHasher('murmur')
 * hasher.hashString(0, 0, 0, 'user.lang')
 * hasher.hashString(hasher.lo, hasher.hi, Type.string, 'en')
 * rowNumbers(hasher.lo, hasher.hi, 3072, 8, rows)
 */
export interface PairHasher {
  readonly name: HashName
  /** The halves of the last result, as int32; valid until the next call. */
  readonly lo: number
  readonly hi: number
  /**
   * Hashes the UTF-16 units of the whole string.
   * @param tag distinguishes kinds of values, any int32
   */
  hashString(seedLo: number, seedHi: number, tag: number, text: string): void
  /**
   * Hashes the 8 bytes of the double, so that all numbers take the same path. −0 hashes as 0, and all NaNs hash alike.
   */
  hashNumber(seedLo: number, seedHi: number, tag: number, value: number): void
}

let createFarmHasher: (() => PairHasher) | undefined

/**
 * Creates a hasher, which holds its result until its next call.
 * @throws PetalError InvalidOptions for an unknown name, and for `farmhash` before loadHasher has loaded it
 */
export function createHasher(name: HashName): PairHasher {
  switch (name) {
    case 'murmur':
      return new MurmurHasher()
    case 'farmhash':
      if (createFarmHasher !== undefined) return createFarmHasher()
      throw new PetalError('InvalidOptions', "hash: 'farmhash' is a native module and has to be loaded first")
    default:
      throw unknownHash(name)
  }
}

/** @throws PetalError InvalidOptions for an unknown name */
export function checkHashName(name: unknown): asserts name is HashName {
  if (!hashNames.some((known) => known === name)) throw unknownHash(name)
}

function unknownHash(name: unknown): PetalError {
  return new PetalError('InvalidOptions', `hash: expected 'murmur' or 'farmhash', got ${shown(name)}`, {
    details: { option: 'hash', value: name }
  })
}

/** As createHasher, but first loads the required module. */
export async function loadHasher(name: HashName): Promise<PairHasher> {
  if (name === 'farmhash') {
    // Imported only here: otherwise this layer would not run without native modules.
    const { loadFarmHash } = await import('./farm-hasher.ts')
    createFarmHasher ??= await loadFarmHash()
  }
  return createHasher(name)
}
