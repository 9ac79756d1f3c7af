/** Limits of fingerprints, against which stored values are checked. */

/** H. Fewer bits give too many false positives; more are useful to no segment (see chooseFingerprintBits). */
export const minFingerprintBits = 18
export const maxFingerprintBits = 30
/**
 * H of crowded documents: one with a thousand pairs is found in vain by one query in 67,000. A bit more takes 4 % more
 * space.
 */
export const crowdedBits = 26
/** Fewer than any code's bits; a segment full of entries still has buckets of the intended size. */
export const maxBucketBits = 16
/** Bytes of all buckets of a segment: more than its entries can take. */
export const maxFingerprintBytes = 2 ** 28
/** Entries after which a segment takes no more documents: an open one keeps them in memory, six bytes each. */
export const maxEntries = 2 ** 23
