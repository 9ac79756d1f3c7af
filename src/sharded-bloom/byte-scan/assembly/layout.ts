/**
 * The fixed layout of the scanner's memory, defined here alone; index.ts exports it to JavaScript.
 *
 * A *node* is a path of documents, 128 bytes: one cache line with what every key needs, and one with its facts. A
 * *pair* is a private value or size pair of the segment being filled. A *slot* is a private row's number in its
 * segment.
 */

/** 10^0 … 10^22 as doubles, the powers that are exact. Filled in by JavaScript. */
export const POWERS: usize = 0
export const MAX_POWER: i32 = 22

/** Stack frames of the enclosing containers, 16 bytes each. */
export const STACK: usize = 1024
export const MAX_DEPTH: usize = 100

/**
 * The leading 128 bits of the powers of ten from −MAX_WIDE_POWER to MAX_WIDE_POWER, low half first. Filled in by
 * JavaScript.
 */
export const WIDE_POWERS: usize = 4096
export const MAX_WIDE_POWER: i32 = 60

/** Out: the document's signature, P bits, P ≤ 65,536. */
export const SIGNATURE: usize = 8192
/** Out: slots of the document's private pairs, u32 each, possibly with repetitions. */
export const SLOTS: usize = 16384
export const MAX_SLOTS: usize = 16384

/**
 * Out: for each column the last key met in the document (a double) and the number of keys, 2 meaning two or more. In:
 * each column's prefix, its template, and their lengths, u32.
 */
export const COLUMN_KEYS: usize = 0x14000
export const COLUMN_COUNTS: usize = 0x14200
export const MAX_COLUMNS: usize = 64
export const COLUMN_PREFIXES: usize = 0x14400
export const COLUMN_PREFIX_BYTES: usize = 64
export const COLUMN_PREFIX_LENGTHS: usize = 0x15400
export const COLUMN_TEMPLATES: usize = 0x15600
export const COLUMN_TEMPLATE_BYTES: usize = 64
export const COLUMN_TEMPLATE_LENGTHS: usize = 0x16600

/** UTF-16 units of a text with escapes or non-ASCII characters. */
export const UNITS: usize = 0x20000
export const MAX_UNITS: usize = 0x8000

/** In, for writing: operations, u32 each, and, as doubles, numbers that are not 32-bit integers. */
export const OPERATIONS: usize = 0x40000
export const MAX_OPERATIONS: usize = 0x8000
export const NUMBERS: usize = 0x60000
export const MAX_NUMBERS: usize = 0x4000

export const NODES: usize = 0x80000
export const NODE_BYTES: usize = 128
export const MAX_NODES: usize = 8192

/** Open addressing over (parent, key) → address of the node; at least twice as many entries as nodes. */
export const NODE_TABLE: usize = 0x180000
export const NODE_TABLE_MASK: u32 = 0x7fff

/** The keys' bytes, each followed by the quote and colon that follow it in JSON. */
export const KEYS: usize = 0x1a0000
export const MAX_KEY_BYTES: usize = 0x60000

/**
 * Buckets of 16 pairs by the low half of the hash: a byte of the high half for each, 0 for none, so that one 16-byte
 * comparison searches a bucket; and the addresses of the pairs.
 */
export const PAIR_MARKS: usize = 0x200000
export const PAIR_ADDRESSES: usize = 0x210000
export const PAIRS: usize = 0x280000
export const PAIR_BYTES: usize = 32
export const MAX_PAIRS: usize = 16384

/** Texts of private pairs: ASCII bytes, or UTF-16 units if there are other characters. */
export const TEXTS: usize = 0x300000
export const MAX_TEXT_BYTES: usize = 0x100000

/**
 * Out: hashes of the document's hashed values and sizes, u32 lo and hi in turn, and of its facts if the segment has no
 * rows. A document with more hashes is not handled.
 */
export const HASHES: usize = 0x400000
export const MAX_HASHES: u32 = 20_000

/** Out, on request: the document's values and sizes, private ones included, in the order of flatten(). See trace.ts. */
export const TRACE: usize = 0x428000
export const TRACE_BYTES: usize = 32
export const MAX_TRACED: u32 = 20_000

/**
 * The sample being taken, if it has few pairs: see sample.ts. There are twice as many slots as pairs; a pair and its
 * value take four u32 each. Pages that are never touched take no memory.
 */
export const SAMPLE_MEMBERS: usize = 0x4d0000
export const MAX_SAMPLE_MEMBERS: u32 = 1024
export const MAX_SAMPLE_PAIRS: u32 = 0x20000
/** 16 bytes per node: see nodes.ts. */
export const DATE_FACTS: usize = 0x4d8000
export const DATE_FACT_BYTES: usize = 16

export const SAMPLE_SLOTS: usize = 0x500000
export const SAMPLE_PAIRS: usize = 0x600000
export const SAMPLE_VALUES: usize = 0x800000
export const SAMPLE_TEXTS: usize = 0xa00000
export const MAX_SAMPLE_TEXT_BYTES: usize = 0x400000

/** For each key written: a u16 length, the key's node as u32 or 0, and the bytes. Address 0 stands for no key. */
export const PIECES: usize = 0xe00000
export const PIECES_END: usize = 0xe40000
export const PIECE_NODE: usize = 2
export const PIECE_BYTES: usize = 6
export const MAX_PIECE_BYTES: usize = 1024

/** In, for writing: the UTF-16 units of all texts, concatenated, and 16 bytes of slack for reads. */
export const TEXT_UNITS: usize = 0xe40000
export const MAX_TEXT_UNITS: usize = 0x20000

/** The document's bytes: input of scanning, output of writing. */
export const INPUT: usize = 0xe81000
/**
 * The bytes beyond the longest input are zeros, which no token contains, so that every loop over the input ends there.
 * Writing may exceed the room by a key, and a number, a word or 16 bytes of a text.
 */
export const PADDING: usize = 0x1000
export const MAX_INPUT: usize = 0x7e000
