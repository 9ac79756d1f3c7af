/** LokiJS in memory, without an index: indexes have to be declared, which is impossible for nested paths. */
import Loki from 'lokijs'
import type { Document } from '../../src/model/types.ts'
import type { Contender, OpenContender } from '../contender.ts'
import { predicate } from './predicate.ts'
import { packageVersion } from './versions.ts'

export const openLoki: OpenContender = async () => {
  const collection = new Loki('tweets').addCollection('tweets', { disableMeta: true })
  const contender: Contender = {
    description: `${packageVersion('lokijs')}: in memory, unindexed, hand-written predicate, nothing on disk`,

    async load(documents) {
      for (const document of documents) collection.insert(document)
    },

    async settle() {},

    async find({ filter, sort, limit }) {
      let chain = collection.chain().where(predicate(filter))
      if (sort !== undefined) chain = chain.simplesort('_id', true)
      if (limit !== undefined) chain = chain.limit(limit)
      // LokiJS adds a number to every document.
      return (chain.data() as Document[]).map(({ $loki: _, ...document }) => document)
    },

    async close() {}
  }
  return contender
}
