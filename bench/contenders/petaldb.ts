/** PetalDB with its defaults: nothing declared, everything indexed. */
import { join } from 'node:path'
import type { Document } from '../../src/model/types.ts'
import type { Contender, OpenContender } from '../contender.ts'
import { openDatabase } from './petaldb-api.ts'

export const openPetalDb: OpenContender = async (directory) => {
  const location = join(directory, 'tweets.db')
  let db = await openDatabase(location)
  const contender: Contender = {
    description: 'PetalDB with its defaults: no index declared',

    async load(documents) {
      await db.insertMany(documents)
    },

    async settle() {},

    async find({ filter, sort, limit }): Promise<Document[]> {
      let cursor = db.find(filter)
      if (sort !== undefined) cursor = cursor.sort(sort)
      if (limit !== undefined) cursor = cursor.limit(limit)
      return cursor.toArray()
    },

    async indexBytes() {
      // After closing and reopening, so that rows that were still in memory are counted too.
      await db.close()
      db = await openDatabase(location)
      const { bytes } = await db.index.stats()
      return { total: bytes.total, rows: bytes.hashedRows + bytes.privateRows }
    },

    close: () => db.close()
  }
  return contender
}
