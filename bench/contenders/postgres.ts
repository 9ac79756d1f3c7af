/** PostgreSQL 15: one jsonb column with a GIN index (jsonb_path_ops), which supports equality on any path. */
import pg from 'pg'
import type { Document } from '../../src/model/types.ts'
import type { Contender, OpenContender } from '../contender.ts'
import { startPostgres } from './postgres-server.ts'
import { packageVersion } from './versions.ts'

export const openPostgres: OpenContender = async (directory) => {
  const server = await startPostgres(directory)
  const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'postgres', database: 'postgres' })
  await client.connect()
  await client.query('CREATE TABLE IF NOT EXISTS tweets (id bigint PRIMARY KEY, doc jsonb NOT NULL)')
  await client.query('CREATE INDEX IF NOT EXISTS by_pair ON tweets USING gin (doc jsonb_path_ops)')
  const { rows } = await client.query('SHOW server_version')
  const contender: Contender = {
    description:
      `PostgreSQL ${rows[0]?.server_version} with ${packageVersion('pg')}: jsonb, GIN index (jsonb_path_ops) made before loading; ` +
      'synchronous_commit off, 1 GB of shared buffers',

    async load(_, json) {
      await client.query(
        "INSERT INTO tweets SELECT (doc->>'_id')::bigint, doc FROM unnest($1::jsonb[]) AS batch(doc)",
        [json]
      )
    },

    async settle() {
      await client.query('VACUUM ANALYZE tweets')
      await client.query('CHECKPOINT')
    },

    async find({ filter, sort, limit }) {
      const parameters: unknown[] = []
      const where = condition(filter, parameters)
      const order = sort === undefined ? '' : ' ORDER BY id DESC'
      const most = limit === undefined ? '' : ` LIMIT ${limit}`
      const sql = `SELECT doc FROM tweets WHERE ${where}${order}${most}`
      const found = await client.query(sql, parameters)
      return found.rows.map(({ doc }) => doc as Document)
    },

    async indexBytes() {
      const size = await client.query("SELECT pg_relation_size('by_pair') AS bytes")
      return { total: Number(size.rows[0]?.bytes) }
    },

    async close() {
      await client.end()
      await server.stop()
    }
  }
  return contender
}

function condition(filter: Document, parameters: unknown[]): string {
  const parts = Object.entries(filter).map(([key, operand]) => {
    if (key !== '$and' && key !== '$or') return onPath(key, operand, parameters)
    const inner = (operand as Document[]).map((part) => condition(part, parameters))
    return `(${inner.join(key === '$and' ? ' AND ' : ' OR ')})`
  })
  return parts.join(' AND ')
}

function onPath(path: string, operand: unknown, parameters: unknown[]): string {
  if (typeof operand !== 'object' || operand === null) return contains(path, operand, parameters)
  return Object.entries(operand)
    .map(([name, argument]) => onOperator(path, name, argument, parameters))
    .join(' AND ')
}

function onOperator(path: string, name: string, argument: unknown, parameters: unknown[]): string {
  switch (name) {
    case '$ne':
      return `NOT ${contains(path, argument, parameters)}`
    case '$in':
      return `(${(argument as unknown[]).map((value) => contains(path, value, parameters)).join(' OR ')})`
    case '$gte':
    case '$lt': {
      parameters.push(argument)
      const keys = path.split('.').join(',')
      return `(doc #>> '{${keys}}')::bigint ${name === '$gte' ? '>=' : '<'} $${parameters.length}`
    }
    default:
      throw new TypeError(`no query class of this benchmark uses ${name}`)
  }
}

/** A condition of containment, which the index supports. Hashtags are the only array among the paths. */
function contains(path: string, value: unknown, parameters: unknown[]): string {
  const shape = path.split('.').reduceRight<unknown>((inner, key) => {
    return { [key]: key === 'hashtags' ? [inner] : inner }
  }, value)
  parameters.push(JSON.stringify(shape))
  return `doc @> $${parameters.length}::jsonb`
}
