/** mingo over an array of parsed objects: everything in memory, and results are not copied. */
import { Query } from 'mingo'
import type { Document } from '../../src/model/types.ts'
import type { Contender, OpenContender } from '../contender.ts'
import { packageVersion } from './versions.ts'

export const openMingo: OpenContender = async () => {
  const documents: Document[] = []
  const contender: Contender = {
    description: `${packageVersion('mingo')}: over parsed objects in memory, results not copied, nothing on disk`,

    async load(_, json) {
      for (const text of json) documents.push(JSON.parse(text) as Document)
    },

    async settle() {},

    async find({ filter, sort, limit = Number.POSITIVE_INFINITY }) {
      const query = new Query(filter)
      if (sort === undefined) return query.find<Document>(documents).all()
      const found: Document[] = []
      for (let i = documents.length - 1; i >= 0 && found.length < limit; i--) {
        if (query.test(documents[i]!)) found.push(documents[i]!)
      }
      return found
    },

    async close() {}
  }
  return contender
}
