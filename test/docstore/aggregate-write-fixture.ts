/** What the cases of $out and $merge share. */
import * as assert from 'uvu/assert'
import type { AggregationPipeline, Database, Document } from '../../src/index.ts'

export const source: readonly Document[] = [
  { _id: 1, k: 'a', n: 1 },
  { _id: 2, k: 'b', n: 2 },
  { _id: 3, k: 'c', n: 3 }
]

export const allOf = (db: Database, name: string): Promise<Document[]> =>
  db
    .collection(name)
    .find({}, { sort: { _id: 1 } })
    .toArray()

export const names = (db: Database): string[] =>
  db
    .listCollections()
    .map(({ name }) => name)
    .sort()

export type Given = (task: (db: Database) => Promise<void>) => Promise<void>

/** Runs tasks over a database with the source in its default collection. */
export function givenSource(openEmpty: () => Promise<Database>): Given {
  return async (task) => {
    await using db = await openEmpty()
    await db.insertMany(structuredClone(source) as Document[])
    await task(db)
  }
}

export async function run(db: Database, ...pipeline: AggregationPipeline): Promise<void> {
  assert.equal(await db.aggregate(pipeline).toArray(), [])
}

export function spin(milliseconds: number): number {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
  return until
}
