/** Shared by scanning and writing: results, flags, types of texts and containers, and stack frames of containers. */

/** Result: the document's pairs cannot be determined; it has to be added as an object. */
export const NOT_HANDLED: i32 = -1
/** As NOT_HANDLED, because of a key or a fact that may be known the next time. */
export const UNKNOWN: i32 = -2

/** Flag: the text of the top-level `_id` is an ObjectId in hexadecimal. */
export const OBJECT_ID: u32 = 1
/** Flag: Extended JSON, in which keys that begin with `$` and integers beyond 2^53 have special meanings. */
export const EXTENDED_JSON: u32 = 2
/** Flag: trace the document's values at TRACE. */
export const TRACED: u32 = 4
/** Flag: scan what is written. */
export const SCANNED: u32 = 8
/**
 * Flag: wrappers stand for dates and ObjectIds, as in records that plain JSON cannot hold. EXTENDED_JSON implies this.
 */
export const WRAPPED: u32 = 16

export const STRING_TYPE: u32 = 3
export const OBJECT_TYPE: u32 = 4
export const ARRAY_TYPE: u32 = 5
export const OBJECT_ID_TYPE: u32 = 7
export const DATE_TYPE: u32 = 9

/** The beginnings of wrappers, their bytes in memory order: `{"$oid":` */
export const OBJECT_ID_START: u64 = 0x3a2264696f24227b
/** `{"$date"` */
export const DATE_START: u64 = 0x226574616424227b
/** `{"$numbe` and `rLong":"` */
export const LONG_START: u64 = 0x65626d756e24227b
export const LONG_END: u64 = 0x223a22676e6f4c72

/** Fields of a stack frame, which saves an enclosing container. An array's link is 0. */
export const FRAME_NODE: usize = 0
export const FRAME_LINK: usize = 4
/** Number of an array's elements so far, or the serial number of an object. */
export const FRAME_COUNT: usize = 8
/** Address at which an array's size is traced. */
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
