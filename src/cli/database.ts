/** Opens the database that a command names. */
import { type Collection, type CollectionOptions, type Database, type OpenOptions, open } from '../index.ts'
import { PetalError } from '../model/errors.ts'

/**
 * For commands that need an existing database. If it is not writable, opens it read-only; a command that writes then
 * reports that.
 */
export async function openExisting(location: string, options: Pick<OpenOptions, 'index'> = {}): Promise<Database> {
  try {
    return await open(location, { ...options, createIfMissing: false })
  } catch (error) {
    if (!(error instanceof PetalError)) throw error
    if (error.details.systemCode !== undefined) return await open(location, { ...options, readOnly: true })
    if (error.codeName !== 'DatabaseNotFound') throw error
    throw new PetalError('DatabaseNotFound', `There is no database at ${location}`, { cause: error })
  }
}

/** For commands that write, for which the library's advice to open the database read-only is useless. */
export async function openToWrite(location: string, options: OpenOptions): Promise<Database> {
  try {
    return await open(location, options)
  } catch (error) {
    if (!(error instanceof PetalError) || error.details.systemCode === undefined) throw error
    const { codeName, details } = error
    throw new PetalError(codeName, `${location} cannot be written: ${details.systemCode}`, { cause: error, details })
  }
}

/**
 * @param name undefined for the default collection
 * @throws PetalError NamespaceNotFound for an unknown name, which is more likely a typo than intended
 */
export async function existingCollection(
  db: Database,
  name: string | undefined,
  options: CollectionOptions = {}
): Promise<Collection> {
  if (name === undefined) return db
  const names = db.listCollections().map((collection) => collection.name)
  if (names.includes(name)) return db.collection(name, options)
  const others = names.length === 0 ? 'it has no collections' : `it has ${names.join(', ')}`
  throw new PetalError('NamespaceNotFound', `The database has no collection '${name}'; ${others}`)
}
