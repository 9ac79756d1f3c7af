/**
 * What scanning and writing a document have in common: flags, results, types of texts and containers, and the containers
 * around one.
 */

/** What cannot be told of a document's pairs: it takes the way of objects. */
export const NOT_HANDLED: i32 = -1
/** As above, and the reason is a key or a fact that may be known the next time. */
export const UNKNOWN: i32 = -2

/** The text of the top-level `_id` is an ObjectId in hexadecimal. */
export const OBJECT_ID: u32 = 1
/** Extended JSON: keys with a `$` in front and integers beyond 2^53 mean more than they say. */
export const EXTENDED_JSON: u32 = 2
/** Leave the document's values at TRACE. */
export const TRACED: u32 = 4
/** What is written is scanned, too. */
export const SCANNED: u32 = 8
/** Wrappers of dates and ObjectIds mean these: a record that JSON does not hold. So they do in Extended JSON. */
export const WRAPPED: u32 = 16

export const STRING_TYPE: u32 = 3
export const OBJECT_TYPE: u32 = 4
export const ARRAY_TYPE: u32 = 5
export const OBJECT_ID_TYPE: u32 = 7
export const DATE_TYPE: u32 = 9

/** How wrappers begin: `{"$oid":`, its bytes in the order of memory, as all of these. */
export const OBJECT_ID_START: u64 = 0x3a2264696f24227b
/** `{"$date"` */
export const DATE_START: u64 = 0x226574616424227b
/** `{"$numbe` and `rLong":"` */
export const LONG_START: u64 = 0x65626d756e24227b
export const LONG_END: u64 = 0x223a22676e6f4c72

/** A container around the one at hand. An array has no link. */
export const FRAME_NODE: usize = 0
export const FRAME_LINK: usize = 4
/** Elements of an array so far, or the number of an object. */
export const FRAME_COUNT: usize = 8
/** Of an array: where its size is traced. */
export const FRAME_TRACE: usize = 12
export const FRAME_BYTES: usize = 16

/** True for 24 lower-case hexadecimal digits and a quote. */
export function isObjectId(p: usize): bool {
  for (let i: usize = 0; i < 24; i++) {
    const byte = <u32>load<u8>(p + i)
    if (byte - 0x30 >= 10 && byte - 0x61 >= 6) return false
  }
  return load<u8>(p, 24) == 0x22
}
