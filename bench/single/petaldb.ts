/** PetalDB with its defaults. */
import { join } from 'node:path'
import { openDatabase } from '../contenders/petaldb-api.ts'
import { seen } from './operations.ts'
import type { SingleStore } from './store.ts'

export async function openPetalDb(directory: string): Promise<SingleStore> {
  const db = await openDatabase(join(directory, 'tweets.db'))
  return {
    description: 'PetalDB with its defaults: everything indexed, nothing declared',
    load: async (documents) => void (await db.insertMany(documents)),
    insert: (document) => db.insertOne(document),
    get: async (id) => (await db.get(id)) ?? undefined,
    update: (id) => db.updateOne({ _id: id }, seen),
    updateOfUser: (name, at) => db.updateOne({ 'user.screen_name': name, timestamp_ms: at }, seen),
    replace: (document) => db.replaceOne({ _id: document._id }, document),
    remove: (id) => db.deleteOne({ _id: id }),
    takeOldest: async () => (await db.findOneAndDelete({}, { sort: { _id: 1 } })) ?? undefined,
    close: () => db.close()
  }
}
