/** What may stand in front of a stored document's JSON: see docstore/documents/record.ts. */

/** There are wrappers of Extended JSON. */
export const wrappedMarkByte = 1
/** The `_id` is an ObjectId, written as its digits. */
export const objectIdMarkByte = 2
