/** What a tail of fingerprints may be: what is stored is checked against it. */

/** H. Fewer bits find too many documents in vain; more are of no use to any segment (see chooseFingerprintBits). */
export const minFingerprintBits = 18
export const maxFingerprintBits = 30
/** Fewer than any code has; of a segment that is full of entries its buckets are those that are wanted. */
export const maxBucketBits = 16
/** Of all buckets of a segment: more than its entries can take. */
export const maxFingerprintBytes = 2 ** 28
/** Entries after which a segment takes no more documents: an open one keeps them in memory, six bytes each. */
export const maxEntries = 2 ** 23
