/** SQLite with JSON text in a column; each statement is a transaction. */
import { join } from 'node:path'
import type { Document } from '../../src/model/types.ts'
import { indexes, schema } from '../contenders/sql.ts'
import { packageVersion } from '../contenders/versions.ts'
import { openSqliteFile } from '../sqlite-file.ts'
import type { SingleStore } from './store.ts'

/** Keep the table of hashtags up to date; SQLite maintains the expression indexes itself. */
const triggers = [
  `CREATE TRIGGER tweets_insert AFTER INSERT ON tweets BEGIN
     INSERT OR IGNORE INTO hashtags SELECT json_extract(value, '$.text'), new.id FROM json_each(new.doc, '$.entities.hashtags');
   END`,
  `CREATE TRIGGER tweets_delete AFTER DELETE ON tweets BEGIN
     DELETE FROM hashtags WHERE id = old.id AND text IN (SELECT json_extract(value, '$.text') FROM json_each(old.doc, '$.entities.hashtags'));
   END`,
  `CREATE TRIGGER tweets_update AFTER UPDATE ON tweets
   WHEN json_extract(old.doc, '$.entities.hashtags') IS NOT json_extract(new.doc, '$.entities.hashtags') BEGIN
     DELETE FROM hashtags WHERE id = old.id AND text IN (SELECT json_extract(value, '$.text') FROM json_each(old.doc, '$.entities.hashtags'));
     INSERT OR IGNORE INTO hashtags SELECT json_extract(value, '$.text'), new.id FROM json_each(new.doc, '$.entities.hashtags');
   END`
]
const seen = `json_set(doc, '$.retweet_count', json_extract(doc, '$.retweet_count') + 1, '$.seen', json('true'))`

export function openSqlite(directory: string, isIndexed: boolean): SingleStore {
  const db = openSqliteFile(join(directory, 'tweets.sqlite'))
  db.pragma('synchronous = NORMAL')
  db.exec(schema)
  const insert = db.prepare('INSERT INTO tweets (id, doc) VALUES (?, ?)')
  const insertAll = db.transaction((documents: readonly Document[]) => {
    for (const document of documents) insert.run(document._id, JSON.stringify(document))
  })
  const get = db.prepare('SELECT doc FROM tweets WHERE id = ?').pluck()
  const update = db.prepare(`UPDATE tweets SET doc = ${seen} WHERE id = ?`)
  const replace = db.prepare('UPDATE tweets SET doc = ? WHERE id = ?')
  const remove = db.prepare('DELETE FROM tweets WHERE id = ?')
  const take = db.prepare('DELETE FROM tweets WHERE id = (SELECT min(id) FROM tweets) RETURNING doc').pluck()
  const isOfUser = "json_extract(doc, '$.user.screen_name') = ? AND json_extract(doc, '$.timestamp_ms') = ?"
  const updateOfUser = db.prepare(`UPDATE tweets SET doc = ${seen} WHERE ${isOfUser}`)
  return {
    description: `${packageVersion('better-sqlite3')}: JSON text, ${
      isIndexed ? 'an expression index per queried path, a table of hashtags kept by triggers' : 'the primary key alone'
    }; WAL, synchronous = NORMAL`,
    async load(documents) {
      insertAll(documents)
    },
    async settle() {
      if (isIndexed) for (const statement of [...indexes, ...triggers]) db.exec(statement)
      db.pragma('wal_checkpoint(TRUNCATE)')
    },
    insert: async (document) => insert.run(document._id, JSON.stringify(document)),
    async get(id) {
      const [json] = get.all(id) as string[]
      return json === undefined ? undefined : (JSON.parse(json) as Document)
    },
    update: async (id) => update.run(id),
    ...(isIndexed && { updateOfUser: async (name: string, at: unknown) => updateOfUser.run(name, at) }),
    replace: async (document) => replace.run(JSON.stringify(document), document._id),
    remove: async (id) => remove.run(id),
    async takeOldest() {
      const [json] = take.all() as string[]
      return json === undefined ? undefined : (JSON.parse(json) as Document)
    },
    close: async () => db.close()
  }
}
