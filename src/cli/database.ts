/** Opens the database that a command names. */
import { holderOfDatabase } from '../docstore/store/holder.ts'
import { type Collection, type CollectionOptions, type Database, type OpenOptions, open } from '../index.ts'
import { PetalError } from '../model/errors.ts'

/** For commands that need an existing database, and may write. If it is not writable, opens it read-only. */
export async function openExisting(location: string, options: Pick<OpenOptions, 'index'> = {}): Promise<Database> {
  try {
    return await open(location, { ...options, createIfMissing: false })
  } catch (error) {
    if (!(error instanceof PetalError)) throw error
    if (error.details.systemCode !== undefined) return await open(location, { ...options, readOnly: true })
    throw withoutAdvice(location, error)
  }
}

/**
 * For commands that only read: changes nothing, and keeps nobody from opening the database meanwhile, except of a
 * database on LevelDB. One that another process has open is read as it is now, with a note on stderr.
 */
export async function openToRead(location: string): Promise<Database> {
  try {
    const db = await open(location, { readOnly: true })
    const holder = holderOfDatabase(location)
    if (holder !== undefined) {
      process.stderr.write(`petaldb: ${location} is in use by ${holder}: this is what it holds now\n`)
    }
    return db
  } catch (error) {
    throw withoutAdvice(location, error)
  }
}

/** For commands that may write, but can do without: reads a database that is in use, as openToRead() does. */
export async function openToWriteOrRead(location: string): Promise<Database> {
  try {
    return await openExisting(location)
  } catch (error) {
    const holder = error instanceof PetalError ? error.details.holder : undefined
    if (typeof holder !== 'string') throw error
    return openToRead(location)
  }
}

/** For commands that write, for which the library's advice to open the database read-only is useless. */
export async function openToWrite(location: string, options: OpenOptions): Promise<Database> {
  try {
    return await open(location, options)
  } catch (error) {
    if (!(error instanceof PetalError)) throw error
    const { codeName, details } = error
    if (details.systemCode === undefined) throw withoutAdvice(location, error)
    throw new PetalError(codeName, `${location} cannot be written: ${details.systemCode}`, { cause: error, details })
  }
}

/** The same error, without advice for programmers. */
export function withoutAdvice(location: string, error: unknown): unknown {
  if (!(error instanceof PetalError)) return error
  const { codeName, details } = error
  if (codeName === 'DatabaseNotFound') {
    return new PetalError(codeName, `There is no database at ${location}`, { cause: error, details })
  }
  if (typeof details.holder !== 'string') return error
  return new PetalError(codeName, `${location} is in use by ${details.holder}`, { cause: error, details })
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
