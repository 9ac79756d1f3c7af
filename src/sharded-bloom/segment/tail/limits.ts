/** Limits of a fingerprint tail, against which stored values are checked. */

/** H. Fewer bits give too many false positives; more are useful to no segment (see chooseFingerprintBits). */
export const minFingerprintBits = 18
export const maxFingerprintBits = 30
/** Fewer than any code's bits; a segment full of entries still has buckets of the intended size. */
export const maxBucketBits = 16
/** Bytes of all buckets of a segment: more than its entries can take. */
export const maxFingerprintBytes = 2 ** 28
/** Entries after which a segment takes no more documents: an open one keeps them in memory, six bytes each. */
export const maxEntries = 2 ** 23
