/** NeDB in its in-memory mode, without a declared index except its own on `_id`. It copies its results. */
import Datastore from '@seald-io/nedb'
import type { Document } from '../../src/model/types.ts'
import type { Contender, OpenContender } from '../contender.ts'
import { packageVersion } from './versions.ts'

export const openNeDb: OpenContender = async () => {
  const db = new Datastore<Document>()
  const contender: Contender = {
    description: `${packageVersion('@seald-io/nedb')}: in-memory mode, unindexed, nothing on disk`,

    async load(documents) {
      await db.insertAsync(documents)
    },

    async settle() {},

    async find({ filter, sort, limit }) {
      let cursor = db.findAsync(withRegExps(filter) as Document)
      // `_id` grows with insertion, and NeDB has no natural order.
      if (sort !== undefined) cursor = cursor.sort({ _id: -1 })
      if (limit !== undefined) cursor = cursor.limit(limit)
      return cursor
    },

    async close() {}
  }
  return contender
}

/** NeDB requires a RegExp where MongoDB also accepts the pattern. */
function withRegExps(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withRegExps)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$regex' ? new RegExp(inner as string) : withRegExps(inner)
    ])
  )
}
