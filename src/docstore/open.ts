import { throwIfAborted } from '../model/errors.ts'
import type { Document } from '../model/types.ts'
import { Collections } from './collections.ts'
import { Database, defaultCollectionName } from './database.ts'
import { assertKnownInside } from './opening-options.ts'
import { assertOptions } from './option-checks.ts'
import { type AnyLevel, knownOpenOptions, type OpenOptions, type Store } from './options.ts'

/**
 * Opens a database, creating it if it does not exist.
 * @param location directory path, resolved at the call; or an abstract-level database, which remains the caller's: it is
 *   opened here if necessary but never closed
 * @throws PetalError BadValue, InvalidOptions; NotADatabase, DatabaseNotFound, DatabaseExists, DBPathInUse,
 *   UnsupportedFormat, CommandNotSupported for an index whose hash cannot be loaded
 * @example
 * const db = await open('./tweets.db')
 * await db.insertMany(tweets)
 * const english = await db.find({ lang: 'en' }).toArray()
 * await db.close()
 */
export async function open<T extends object = Document>(
  location: string | URL | AnyLevel,
  options: OpenOptions = {}
): Promise<Database<T>> {
  assertOptions('open', options, knownOpenOptions)
  assertKnownInside('open', options)
  throwIfAborted(options.signal)
  const collections = await Collections.open(location as string | URL | Store, options)
  try {
    const { ids } = options
    if (ids !== undefined) collections.setOptions(defaultCollectionName, { ids })
    // Brings the index up to date now rather than at the first query.
    await collections.openForRead(defaultCollectionName)
    throwIfAborted(options.signal)
  } catch (error) {
    await collections.close()
    throw error
  }
  return new Database<T>(collections)
}
