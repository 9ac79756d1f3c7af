/** LevelDB, whose users change documents by hand. */
import { ClassicLevel } from 'classic-level'
import type { Document } from '../../src/model/types.ts'
import { levelKey } from '../contenders/level-key.ts'
import { packageVersion } from '../contenders/versions.ts'
import type { SingleStore } from './store.ts'

export async function openLevel(directory: string): Promise<SingleStore> {
  const db = new ClassicLevel<string, string>(directory, { cacheSize: 256 * 2 ** 20 })
  await db.open()
  const put = (document: Document): Promise<void> => db.put(levelKey(document._id as number), JSON.stringify(document))
  const get = async (id: number): Promise<Document | undefined> => {
    const json = await db.get(levelKey(id))
    return json === undefined ? undefined : (JSON.parse(json) as Document)
  }
  return {
    description: `${packageVersion('classic-level')}: JSON by key, no index; an update is a get and a put`,
    load: (documents) =>
      db.batch(
        documents.map((document) => ({
          type: 'put',
          key: levelKey(document._id as number),
          value: JSON.stringify(document)
        }))
      ),
    insert: put,
    get,
    async update(id) {
      const document = await get(id)
      if (document !== undefined) {
        await put({ ...document, retweet_count: Number(document.retweet_count) + 1, seen: true })
      }
    },
    replace: put,
    remove: (id) => db.del(levelKey(id)),
    async takeOldest() {
      const [entry] = await db.iterator({ limit: 1 }).all()
      if (entry === undefined) return undefined
      await db.del(entry[0])
      return JSON.parse(entry[1]) as Document
    },
    close: () => db.close()
  }
}
