/**
 * Writes a file as a whole or not at all.
 *
 * Invariants:
 * 1. A regular file, or a name that is free, gets its new content by a rename: whoever sees the name sees all of it.
 * 2. Anything else, a device or a named pipe, is written to where it is: a rename would put a file in its place.
 * 3. A symbolic link stays one; what it points to is written.
 */
import { createWriteStream } from 'node:fs'
import { realpath, rename, rm, stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { FileError, isSystemError } from './errors.ts'
import { LineWriter } from './line-writer.ts'

/**
 * @param path compressed when it ends in `.gz`
 * @param write gets the open file; what it returns is returned
 * @throws FileError when the file cannot be written, otherwise whatever `write` throws; no partial file is left
 */
export async function writeFile<T>(path: string, write: (writer: LineWriter) => Promise<T>): Promise<T> {
  try {
    const target = await targetOf(path)
    if (!target.isReplaceable) return await fill(path, target.path, 'w', write)
    const partial = `${target.path}.${process.pid}.partial`
    try {
      const result = await fill(path, partial, 'wx', write)
      await rename(partial, target.path)
      return result
    } catch (error) {
      await rm(partial, { force: true })
      throw error
    }
  } catch (error) {
    throw isSystemError(error) ? new FileError('write', path, error) : error
  }
}

interface Target {
  /** Symbolic links resolved. */
  readonly path: string
  readonly isReplaceable: boolean
}

async function targetOf(path: string): Promise<Target> {
  try {
    const resolved = await realpath(path)
    const entry = await stat(resolved)
    // A directory fails at the rename otherwise, after all the work.
    if (entry.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    return { path: resolved, isReplaceable: entry.isFile() }
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return { path, isReplaceable: true }
    throw error
  }
}

/** @param name what the user calls it */
async function fill<T>(
  name: string,
  path: string,
  flags: 'w' | 'wx',
  write: (writer: LineWriter) => Promise<T>
): Promise<T> {
  // A device or a pipe cannot be flushed to a disk.
  const file = createWriteStream(path, { flags, flush: flags === 'wx' })
  const gzip = name.endsWith('.gz') ? createGzip() : undefined
  const target: Writable = gzip ?? file
  const closed = gzip === undefined ? finished(file) : pipeline(gzip, file)
  // Listened to from the start: opening may fail before anything waits for it.
  closed.catch(() => {})
  try {
    const result = await write(new LineWriter(target, name))
    target.end()
    await closed
    return result
  } catch (error) {
    target.destroy()
    await closed.catch(() => {
      // Being destroyed early is what was asked for.
    })
    throw error
  }
}
