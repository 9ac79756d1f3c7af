/** Plain LevelDB: a scan in key order, JSON.parse of each value, and a hand-written predicate. */
import { ClassicLevel } from 'classic-level'
import type { Document } from '../../src/model/types.ts'
import type { Contender, OpenContender } from '../contender.ts'
import { levelKey } from './level-key.ts'
import { predicate } from './predicate.ts'
import { packageVersion } from './versions.ts'

const valuesPerRead = 1_000
/** LevelDB's default of 16 KiB makes a scan of documents three times slower. */
const highWaterMarkBytes = 256 * 2 ** 10

export const openLevelScan: OpenContender = async (directory) => {
  const db = new ClassicLevel<string, string>(directory, { cacheSize: 256 * 2 ** 20 })
  await db.open()
  const contender: Contender = {
    description: `${packageVersion('classic-level')}: scan, JSON.parse and a hand-written predicate; 256 MiB of cache`,

    load: (documents, json) =>
      db.batch(documents.map(({ _id }, i) => ({ type: 'put', key: levelKey(_id as number), value: json[i]! }))),

    settle: () => db.compactRange('', '~'),

    async find({ filter, sort, limit = Number.POSITIVE_INFINITY }) {
      const matches = predicate(filter)
      const found: Document[] = []
      const values = db.values({ reverse: sort !== undefined, highWaterMarkBytes })
      try {
        for (let some = await values.nextv(valuesPerRead); some.length > 0; some = await values.nextv(valuesPerRead)) {
          for (const json of some) {
            const document = JSON.parse(json) as Document
            if (matches(document) && found.push(document) >= limit) return found
          }
        }
      } finally {
        await values.close()
      }
      return found
    },

    close: () => db.close()
  }
  return contender
}
