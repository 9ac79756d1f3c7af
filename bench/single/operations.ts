/** The operations that bench/single-operations.ts times. */

/** The update, for stores that support MongoDB's operators. */
export const seen = { $inc: { retweet_count: 1 }, $set: { seen: true } }

export const operations = [
  'insert',
  'insert, 100 under way',
  'get by _id',
  'update by _id',
  'update by two fields',
  'replace',
  'delete'
] as const

export type Operation = (typeof operations)[number]

/** Microseconds per operation; undefined for operations that the store could do only by a scan. */
export type RoundTimes = Partial<Record<Operation, number>>
