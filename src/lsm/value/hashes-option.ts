/** What puts take in addition, by themselves or in a batch. */
export interface HashesOption {
  /**
   * Hashes of the pairs of the value: exactly those that the extractor would emit, two int32 halves for each, in any
   * order. Then it is not asked when the memtable is searched and written out. Nothing checks them: a pair left out is
   * not found. Copied; of no effect without the option values, and when the extractor has zone fields, whose values it
   * has to find anyway. TypeError for anything but an Int32Array of even length.
   */
  readonly hashes?: Int32Array | undefined
}

/** @throws TypeError */
export function checkedHashes({ hashes }: HashesOption): Int32Array | undefined {
  if (hashes === undefined || (hashes instanceof Int32Array && hashes.length % 2 === 0)) return hashes
  throw new TypeError("The option 'hashes' must be an Int32Array with two halves for each hash")
}
