/**
 * FarmHash Fingerprint64 (npm `farmhash`, a native module) behind the PairHasher interface.
 *
 * Only the fingerprint functions have the same results on every processor; seed and tag are mixed in afterwards. The
 * native call takes strings as UTF-8, in which all lone surrogates become the same character: strings that differ only
 * there share a hash, which costs a confirmation but loses nothing.
 */
import { Buffer } from 'node:buffer'
import { PetalError } from '../model/errors.ts'
import type { PairHasher } from './hash.ts'
import { PairMixer } from './pair-mixer.ts'

interface FarmHashModule {
  fingerprint64(input: string | Buffer): bigint
}

const result = new BigUint64Array(1)
const words = new Int32Array(result.buffer)
const numberBytes = Buffer.alloc(8)

export class FarmHasher extends PairMixer implements PairHasher {
  readonly name = 'farmhash'
  readonly #fingerprint64: FarmHashModule['fingerprint64']

  constructor(module: FarmHashModule) {
    super()
    this.#fingerprint64 = module.fingerprint64
  }

  hashString(seedLo: number, seedHi: number, tag: number, text: string): void {
    this.#mixFingerprint(seedLo, seedHi, tag, text)
  }

  hashNumber(seedLo: number, seedHi: number, tag: number, value: number): void {
    if (Number.isNaN(value)) numberBytes.writeBigUInt64LE(0x7ff80000_00000000n)
    else numberBytes.writeDoubleLE(value + 0)
    this.#mixFingerprint(seedLo, seedHi, tag, numberBytes)
  }

  #mixFingerprint(seedLo: number, seedHi: number, tag: number, input: string | Buffer): void {
    result[0] = this.#fingerprint64(input)
    this.mixWords(seedLo, seedHi, tag, words[0] as number, words[1] as number, 0)
  }
}

/**
 * Loads the native module.
 * @throws PetalError InvalidOptions if the module or its binary for this platform is missing
 */
export async function loadFarmHash(): Promise<() => FarmHasher> {
  try {
    const { default: module } = await import('farmhash')
    return () => new FarmHasher(module)
  } catch (cause) {
    throw new PetalError(
      'InvalidOptions',
      "hash: 'farmhash' requires the npm package farmhash with a binary for this platform",
      {
        cause,
        details: { option: 'hash', value: 'farmhash' }
      }
    )
  }
}
