/** Marks that may precede a stored document's JSON: see docstore/documents/record.ts. */

/** The JSON contains Extended JSON wrappers. */
export const wrappedMarkByte = 1
/** The `_id` is an ObjectId, written as its digits. */
export const objectIdMarkByte = 2
