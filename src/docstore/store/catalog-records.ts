/**
 * The records of the catalog, as JSON.
 *
 * | key in `meta`   | value                                                          |
 * | --------------- | -------------------------------------------------------------- |
 * | `format`        | `{ format, nextCollection }`                                   |
 * | `name:<name>`   | `{ number, index, ids, declared, nextDeclared }`               |
 * | `state:<n>`     | state that a collection writes with each commit, see write-batch.ts |
 * | `dropped:<n>`   | a collection whose records are still to be deleted: it was dropped, or is being filled and has no name yet |
 * | `clearing:<n>.<id>` | a declared index that is being built, or was dropped: its entries are still to be deleted |
 */
import { PetalError } from '../../model/errors.ts'
import { isPlainObject } from '../../model/types.ts'
import type { ReversibleHeader } from '../ids/reversible-ids.ts'
import type { IndexDefinition } from '../indexes/definition.ts'

/** The newest store format that this code reads, and the one it writes. */
export const storeFormat = 1

/** Properties of a collection that do not depend on its contents. */
export interface CollectionTraits {
  /** Kind of the index whose records the collection has. */
  readonly index: string
  /** How `_id`s are computed; undefined with an id table. */
  readonly ids?: ReversibleHeader
  /** Indexes created by createIndex(). */
  readonly declared?: readonly IndexDefinition[]
  /** Number of the next declared index. */
  readonly nextDeclared?: number
}

export interface CatalogEntry extends CollectionTraits {
  readonly number: number
}

/** A declared index whose entries are to be deleted. */
export interface Clearing {
  /** Number of the collection. */
  readonly number: number
  readonly id: number
}

/** Returns the records that mark everything of a collection for deletion, or with undefined, unmark it. */
export function deletionOf(
  { number, declared = [] }: CatalogEntry,
  value: object | undefined
): Record<string, object | undefined> {
  const clearings = declared.map(({ id }) => [clearingKey(number, id), value] as const)
  return { [`dropped:${number}`]: value, ...Object.fromEntries(clearings) }
}

export function clearingKey(number: number, id: number): string {
  return `clearing:${number}.${id}`
}

/** Splits `name:tweets` into the kind `name:` and the rest. */
export function splitKey(key: string): readonly [kind: string, rest: string] {
  const end = key.indexOf(':') + 1
  return [key.slice(0, end), key.slice(end)]
}

/** @returns the number of the next collection @throws PetalError UnsupportedFormat, DataCorruption */
export function readFormat({ format, nextCollection }: Readonly<Record<string, unknown>>): number {
  if (typeof format !== 'number') throw damagedRecord('format')
  if (format <= storeFormat) return isNumber(nextCollection) ? nextCollection : 1
  throw new PetalError(
    'UnsupportedFormat',
    `The store has format ${format}; this version reads formats up to ${storeFormat}`,
    { details: { found: format, supported: storeFormat } }
  )
}

/** Parses the record of a name. @throws PetalError DataCorruption naming the key */
export function parseEntry(key: string, text: string): CatalogEntry {
  const entry = parse(key, text)
  const { number, index, ids, declared } = entry
  const isEntry =
    isNumber(number) &&
    typeof index === 'string' &&
    (ids === undefined || isPlainObject(ids)) &&
    (declared === undefined || (Array.isArray(declared) && declared.every(isDefinition)))
  if (!isEntry) throw damagedRecord(key)
  return entry as unknown as CatalogEntry
}

/** What a malformed record of a name still tells: undefined without the collection's number. */
export function salvageEntry(text: string): CatalogEntry | undefined {
  const { number } = objectIn(text) ?? {}
  return isNumber(number) ? { number, index: 'sharded' } : undefined
}

function isDefinition(value: unknown): value is IndexDefinition {
  if (!isPlainObject(value)) return false
  const { id, name, fields } = value
  const isField = (field: unknown): boolean =>
    isPlainObject(field) && typeof field.path === 'string' && (field.direction === 1 || field.direction === -1)
  return isNumber(id) && typeof name === 'string' && Array.isArray(fields) && fields.every(isField)
}

/** Whether the value can be the number of a collection. */
function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

/** Parses a record. @throws PetalError DataCorruption naming the key */
export function parse(key: string, text: string): Readonly<Record<string, unknown>> {
  const value = objectIn(text)
  if (value === undefined) throw damagedRecord(key)
  return value
}

/** Returns undefined for a text that is not an object's JSON. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function damagedRecord(key: string): PetalError {
  return new PetalError('DataCorruption', `The catalog record '${key}' is damaged`, { details: { key } })
}
