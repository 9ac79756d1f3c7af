/** What bench/single-operations.ts times. */

/** An update, for those who know MongoDB's operators. */
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

/** Microseconds per operation; none of what the store cannot do but by a scan. */
export type RoundTimes = Partial<Record<Operation, number>>
