/**
 * Writes a file atomically.
 *
 * Invariants:
 * 1. A regular or new file gets its content by a rename, so it is never seen incomplete.
 * 2. Anything else, such as a device or a named pipe, is written in place, because a rename would replace it by a file.
 * 3. A symbolic link remains one; its target is written.
 * 4. A file that is replaced keeps its permissions: the new one never has more.
 */
import { createWriteStream } from 'node:fs'
import { chmod, realpath, rename, rm, stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { FileError, isSystemError } from './errors.ts'
import { LineWriter } from './line-writer.ts'

/**
 * @param path compressed if it ends in `.gz`
 * @param write gets the open file
 * @returns the result of `write`
 * @throws FileError if the file cannot be written, otherwise whatever `write` throws; no partial file is left
 */
export async function writeFile<T>(path: string, write: (writer: LineWriter) => Promise<T>): Promise<T> {
  try {
    const target = await targetOf(path)
    if (!target.isReplaceable) return await fill(path, target.path, 'w', write)
    const partial = `${target.path}.${process.pid}.partial`
    try {
      const result = await fill(path, partial, 'wx', write, target.mode)
      // The process's mask may have taken some from it.
      if (target.mode !== undefined) await chmod(partial, target.mode)
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
  /** With symbolic links resolved. */
  readonly path: string
  readonly isReplaceable: boolean
  /** Permissions of the file that is there; undefined if there is none. */
  readonly mode?: number
}

async function targetOf(path: string): Promise<Target> {
  try {
    const resolved = await realpath(path)
    const entry = await stat(resolved)
    // Otherwise a directory would only fail at the rename, after all the work.
    if (entry.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    return { path: resolved, isReplaceable: entry.isFile(), mode: entry.mode & 0o777 }
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return { path, isReplaceable: true }
    throw error
  }
}

/** @param name as given by the user */
async function fill<T>(
  name: string,
  path: string,
  flags: 'w' | 'wx',
  write: (writer: LineWriter) => Promise<T>,
  mode = 0o666
): Promise<T> {
  // A device or a pipe cannot be flushed to disk.
  const file = createWriteStream(path, { flags, mode, flush: flags === 'wx' })
  const gzip = name.endsWith('.gz') ? createGzip() : undefined
  const target: Writable = gzip ?? file
  const closed = gzip === undefined ? finished(file) : pipeline(gzip, file)
  // Attached from the start, since opening may fail before anything awaits it.
  closed.catch(() => {})
  try {
    const result = await write(new LineWriter(target, name))
    target.end()
    await closed
    return result
  } catch (error) {
    target.destroy()
    await closed.catch(() => {
      // The premature close is intended.
    })
    throw error
  }
}
