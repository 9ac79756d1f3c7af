/** SQLite with JSON text in a column, without indexes or with one per queried path. */
import { join } from 'node:path'
import type { Statement } from 'better-sqlite3'
import type { Document } from '../../src/model/types.ts'
import type { Contender, OpenContender } from '../contender.ts'
import { openSqliteFile } from '../sqlite-file.ts'
import { condition, indexes, schema } from './sql.ts'
import { packageVersion } from './versions.ts'

export const openSqlite: OpenContender = async (directory) => open(directory, false)

export const openIndexedSqlite: OpenContender = async (directory) => open(directory, true)

function open(directory: string, isIndexed: boolean): Contender {
  const db = openSqliteFile(join(directory, 'tweets.sqlite'))
  db.pragma('synchronous = NORMAL')
  db.exec(schema)
  const insert = db.prepare('INSERT INTO tweets (id, doc) VALUES (?, ?)')
  const insertAll = db.transaction((rows: readonly (readonly [id: unknown, doc: string])[]) => {
    for (const [id, doc] of rows) insert.run(id, doc)
  })
  const statements = new Map<string, Statement>()
  const prepared = (sql: string): Statement => {
    const statement = statements.get(sql) ?? db.prepare(sql).pluck()
    statements.set(sql, statement)
    return statement
  }
  return {
    description: `${packageVersion('better-sqlite3')} (SQLite ${db.prepare('SELECT sqlite_version()').pluck().all()[0]}): ${
      isIndexed ? 'one expression index per queried path, a table for hashtags' : 'json_extract, json_each, no index'
    }; WAL, 256 MiB of cache, mmap`,

    async load(documents, json) {
      insertAll(documents.map(({ _id }, i) => [_id, json[i]!]))
    },

    async settle() {
      if (isIndexed) for (const statement of indexes) db.exec(statement)
      db.pragma('wal_checkpoint(TRUNCATE)')
    },

    async find({ filter, sort, limit }) {
      const { sql, parameters } = condition(filter, isIndexed)
      const order = sort === undefined ? '' : ' ORDER BY id DESC'
      const most = limit === undefined ? '' : ` LIMIT ${limit}`
      const statement = prepared(`SELECT doc FROM tweets WHERE ${sql}${order}${most}`)
      return (statement.all(...parameters) as string[]).map((json) => JSON.parse(json) as Document)
    },

    async close() {
      db.close()
    }
  }
}
