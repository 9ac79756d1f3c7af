/**
 * The benchmark's filters as a good SQLite user would write them: JSON text in one column, `json_extract` for scalars,
 * `json_each` for arrays, or a separate table for arrays that need an index.
 */
import type { Document } from '../../src/model/types.ts'

/** The only array that queries look into. */
const arrayPath = 'entities.hashtags.text'

/** The other paths whose values queries compare. */
const extractedPaths = [
  'user.screen_name',
  'user.id',
  'user.location',
  'user.verified',
  'place.country_code',
  'lang',
  'source',
  'retweet_count',
  'timestamp_ms'
]
/** Paths whose presence queries test. */
const presentPaths = ['coordinates']

export const schema = 'CREATE TABLE IF NOT EXISTS tweets (id INTEGER PRIMARY KEY, doc TEXT NOT NULL)'

export const indexes = [
  ...extractedPaths.map((path) => `CREATE INDEX "by_${path}" ON tweets (${extract(path)})`),
  // Partial: the planner does not use an expression index for IS NOT NULL.
  ...presentPaths.map((path) => `CREATE INDEX "with_${path}" ON tweets (id) WHERE ${type(path)} IS NOT NULL`),
  'CREATE TABLE hashtags (text TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (text, id)) WITHOUT ROWID',
  `INSERT OR IGNORE INTO hashtags SELECT json_extract(tag.value, '$.text'), tweets.id
   FROM tweets, json_each(tweets.doc, '$.entities.hashtags') AS tag`,
  'ANALYZE'
]

export interface Condition {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** @param hasHashtagTable whether `indexes` were created */
export function condition(filter: Document, hasHashtagTable: boolean): Condition {
  return join(
    ' AND ',
    Object.entries(filter).map(([key, operand]) => {
      if (key === '$and' || key === '$or') {
        const parts = (operand as Document[]).map((part) => condition(part, hasHashtagTable))
        return join(key === '$and' ? ' AND ' : ' OR ', parts)
      }
      return key === arrayPath ? hashtagIs(operand, hasHashtagTable) : onPath(key, operand)
    })
  )
}

function join(word: string, parts: readonly Condition[]): Condition {
  if (parts.length === 1 && parts[0] !== undefined) return parts[0]
  return {
    sql: `(${parts.map(({ sql }) => sql).join(word)})`,
    parameters: parts.flatMap(({ parameters }) => parameters)
  }
}

function extract(path: string): string {
  return `json_extract(doc, '$.${path}')`
}

function type(path: string): string {
  return `json_type(doc, '$.${path}')`
}

function hashtagIs(text: unknown, hasHashtagTable: boolean): Condition {
  const sql = hasHashtagTable
    ? 'id IN (SELECT id FROM hashtags WHERE text = ?)'
    : "EXISTS (SELECT 1 FROM json_each(doc, '$.entities.hashtags') WHERE json_extract(value, '$.text') = ?)"
  return { sql, parameters: [text] }
}

function onPath(path: string, operand: unknown): Condition {
  if (typeof operand !== 'object' || operand === null) return onOperator(path, '$eq', operand)
  return join(
    ' AND ',
    Object.entries(operand).map(([name, argument]) => onOperator(path, name, argument))
  )
}

function onOperator(path: string, name: string, argument: unknown): Condition {
  switch (name) {
    case '$eq':
      return { sql: `${extract(path)} = ?`, parameters: [scalar(argument)] }
    case '$ne':
      return { sql: `${extract(path)} IS NOT ?`, parameters: [scalar(argument)] }
    case '$in': {
      const values = argument as unknown[]
      return { sql: `${extract(path)} IN (${values.map(() => '?').join(', ')})`, parameters: values.map(scalar) }
    }
    case '$gte':
      return { sql: `${extract(path)} >= ?`, parameters: [argument] }
    case '$lt':
      return { sql: `${extract(path)} < ?`, parameters: [argument] }
    case '$exists':
      return { sql: `${type(path)} IS ${argument ? 'NOT ' : ''}NULL`, parameters: [] }
    case '$regex':
      // The benchmark's pattern is a literal; SQLite has no built-in regular expressions.
      return { sql: `instr(${extract(path)}, ?) > 0`, parameters: [argument] }
    default:
      throw new TypeError(`no query class uses ${name}`)
  }
}

/** SQLite's JSON functions return booleans as 0 and 1. */
function scalar(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : value
}
