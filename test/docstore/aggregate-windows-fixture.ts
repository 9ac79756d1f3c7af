/** What the tests of $setWindowFields share. */
import type { Document } from '../../src/index.ts'
import { over } from './aggregate-over.ts'

export const secondsOn = (n: number): Date => new Date(Date.UTC(2024, 0, 1) + n * 1000)

/** Values of one window field, in order. */
export async function column(
  documents: readonly Document[],
  sortBy: Document | undefined,
  field: Document
): Promise<unknown[]> {
  const spec = { ...(sortBy && { sortBy }), output: { found: field } }
  return (await over(documents, { $setWindowFields: spec })).map(({ found }) => found)
}

export const five: readonly Document[] = [1, 2, 3, 4, 5].map((_id) => ({ _id, n: _id * 10 }))
