/** Checks the location that open() and the tools are given, and fixes what it means. */
import { PetalError } from '../../model/errors.ts'
import { shown } from '../../model/invalid-option.ts'
import type { Store, StoreName } from '../options.ts'

/** The scheme has at least two characters: a single letter is a drive. */
const urlPattern = /^([a-z][a-z\d+.-]+):\/\//i

/**
 * @param call the function named in the error
 * @throws PetalError BadValue for anything that cannot mean a directory
 */
export function assertPath(call: string, location: unknown): asserts location is string {
  const refused = (got: string): PetalError =>
    new PetalError('BadValue', `${call} takes the path of a directory, got ${got}`)
  if (location instanceof URL) throw refused('a URL; fileURLToPath() of node:url converts it to a path')
  if (typeof location !== 'string') throw refused(shown(location))
  if (location === '') throw refused('an empty string')
  if (location === ':memory:')
    throw refused("':memory:'; to keep a database in memory, use open() with { store: 'memory' }")
  const scheme = urlPattern.exec(location)?.[1]?.toLowerCase()
  if (scheme === 'file') throw refused('a URL as a string; pass it to open() as new URL(…)')
  // Only the scheme is shown: the URL may contain a password.
  if (scheme !== undefined) throw refused(`a URL that is not a file URL, '${scheme}://…'`)
}

/**
 * Where open() finds a database: an absolute path, or the caller's store.
 * @param store engine of a new database; `memory` takes any name
 * @throws PetalError BadValue
 */
export async function placeOf(location: string | URL | Store, store: StoreName | undefined): Promise<string | Store> {
  const path = location instanceof URL ? await pathOfUrl(location) : location
  if (typeof path !== 'string' || store === 'memory') return path
  assertPath('open()', path)
  return absolutePath(path)
}

/**
 * The absolute path that a path means at the time of the call, whatever becomes of the working directory while this is
 * awaited.
 */
export async function absolutePath(path: string): Promise<string> {
  const directory = workingDirectory()
  // Imported on demand, as below.
  const { resolve } = await import('node:path')
  return directory === undefined ? resolve(path) : resolve(directory, path)
}

function workingDirectory(): string | undefined {
  try {
    return process.cwd()
  } catch {
    // It was removed: absolute paths do not need it, and others will fail.
    return undefined
  }
}

/** @throws PetalError BadValue */
async function pathOfUrl(url: URL): Promise<string> {
  if (url.protocol !== 'file:') {
    throw new PetalError('BadValue', `open() takes a file: URL, got one with '${url.protocol}'`)
  }
  // Imported on demand: without a file system, databases are opened over a store, and `node:url` may not exist.
  const { fileURLToPath } = await import('node:url')
  try {
    return fileURLToPath(url)
  } catch (cause) {
    throw new PetalError('BadValue', `open() cannot use the URL: ${(cause as Error).message}`, { cause })
  }
}
