/** NeDB with a file. */
import { join } from 'node:path'
import Datastore from '@seald-io/nedb'
import type { Document } from '../../src/model/types.ts'
import { packageVersion } from '../contenders/versions.ts'
import { seen } from './operations.ts'
import type { SingleStore } from './store.ts'

export async function openNeDb(directory: string): Promise<SingleStore> {
  const db = new Datastore<Document>({ filename: join(directory, 'tweets.nedb') })
  await db.loadDatabaseAsync()
  await db.ensureIndexAsync({ fieldName: 'user.screen_name' })
  return {
    description: `${packageVersion('@seald-io/nedb')}: all documents in memory, each write appended to a file; an index on user.screen_name`,
    load: async (documents) => void (await db.insertAsync(documents)),
    insert: (document) => db.insertAsync([document]),
    get: async (id) => (await db.findAsync({ _id: id }))[0],
    update: (id) => db.updateAsync({ _id: id }, seen, {}),
    updateOfUser: (name, at) => db.updateAsync({ 'user.screen_name': name, timestamp_ms: at }, seen, {}),
    replace: (document) => db.updateAsync({ _id: document._id }, document, {}),
    remove: (id) => db.removeAsync({ _id: id }, {}),
    close: async () => {}
  }
}
