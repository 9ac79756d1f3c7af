/** Additional option of puts, single or in a batch. */
export interface HashesOption {
  /**
   * Hashes of the value's pairs: exactly those that the extractor would emit, as two int32 halves each, in any order.
   * The extractor is then not called when the memtable is searched or flushed. They are not verified: a pair left out
   * is not found. Copied. Ignored without the option `values`, and if the extractor has zone fields, whose values it
   * has to extract anyway. TypeError unless it is an Int32Array of even length.
   */
  readonly hashes?: Int32Array | undefined
}

/** @throws TypeError */
export function checkedHashes({ hashes }: HashesOption): Int32Array | undefined {
  if (hashes === undefined || (hashes instanceof Int32Array && hashes.length % 2 === 0)) return hashes
  throw new TypeError("The option 'hashes' must be an Int32Array with two halves for each hash")
}
