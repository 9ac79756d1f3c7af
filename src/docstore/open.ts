import { throwIfAborted } from '../model/errors.ts'
import type { Document } from '../model/types.ts'
import { Collections } from './collections.ts'
import { Database, defaultCollectionName } from './database.ts'
import { assertKnownInside } from './opening-options.ts'
import { assertOptions } from './option-checks.ts'
import { type AnyLevel, knownOpenOptions, type OpenOptions, type Store } from './options.ts'

/**
 * Opens a database, creating it if need be.
 * @param location path of a directory, as a text or a URL of the scheme file; or an abstract-level database that stays the caller's:
 *   it is opened here if it is not, and not closed. With `store: 'memory'` any text.
 * @throws PetalError BadValue, InvalidOptions; NotADatabase, DatabaseNotFound, DatabaseExists, DBPathInUse, UnsupportedFormat,
 *   CommandNotSupported for an index whose hash cannot be loaded here
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
    if (ids !== undefined) collections.choose(defaultCollectionName, { ids })
    // What an index has to catch up with is caught up now, not at the first question.
    await collections.reading(defaultCollectionName)
    throwIfAborted(options.signal)
  } catch (error) {
    await collections.close()
    throw error
  }
  return new Database<T>(collections)
}
