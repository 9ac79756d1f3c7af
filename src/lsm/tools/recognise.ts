/**
 * Determines whose a directory is, before anything in it is removed or replaced. Changes nothing.
 *
 * A directory is recognized as ours by its files' contents, not by their names: other engines use the same names.
 */
import { join } from 'node:path'
import { hasCode } from '../errors.ts'
import { footerBytes, readFooter } from '../format/footer.ts'
import { LogReader } from '../format/log-reader.ts'
import { parseFileName } from '../fs/file-names.ts'
import type { FileSystem, OpenFile } from '../fs/file-system.ts'
import { hasSystemCode } from '../fs/system-error.ts'
import { readCurrent } from '../version/current-file.ts'
import { isDamage } from './repair/losses.ts'

export type DirectoryContents =
  | { readonly kind: 'missing' }
  /** Nothing, or what an interrupted destroy leaves: its lock. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'ours'; readonly names: readonly string[] }
  /** `found` describes the actual contents. */
  | { readonly kind: 'foreign'; readonly found: string }

/** @throws LEVEL_NOT_SUPPORTED for a database of another engine or of a later format; Node's own errors */
export function recogniseDirectory(fileSystem: FileSystem, directory: string): DirectoryContents {
  let names: string[]
  try {
    names = fileSystem.list(directory)
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return { kind: 'missing' }
    if (hasSystemCode(error, 'ENOTDIR')) return { kind: 'foreign', found: 'not a directory' }
    throw error
  }
  if (names.every(isLock)) return { kind: 'empty' }
  const isOurs = hasCurrent(fileSystem, directory) || names.some((name) => isOurFile(fileSystem, directory, name))
  if (isOurs) return { kind: 'ours', names }
  const shown = [...names].sort().slice(0, 3).join(', ')
  return { kind: 'foreign', found: `a directory containing ${shown}${names.length > 3 ? ', …' : ''}` }
}

function isLock(name: string): boolean {
  const parsed = parseFileName(name)
  return parsed?.kind === 'lock' || (parsed?.kind === 'temporary' && parsed.number === 0)
}

function hasCurrent(fileSystem: FileSystem, directory: string): boolean {
  try {
    return readCurrent(fileSystem, directory) !== undefined
  } catch (error) {
    // Damaged or foreign: the other files decide.
    if (isDamage(error)) return false
    throw error
  }
}

function isOurFile(fileSystem: FileSystem, directory: string, name: string): boolean {
  const parsed = parseFileName(name)
  if (parsed === undefined || !['table', 'log', 'manifest'].includes(parsed.kind)) return false
  let file: OpenFile | undefined
  try {
    file = fileSystem.open(join(directory, name), 'read')
    return parsed.kind === 'table' ? hasFooter(file) : hasRecord(file, parsed.number)
  } catch (error) {
    // A link may lead to no file.
    if (isDamage(error) || hasSystemCode(error, 'ENOENT')) return false
    // A table of a later format is ours.
    if (hasCode(error, 'LEVEL_NOT_SUPPORTED')) return true
    throw error
  } finally {
    file?.close()
  }
}

function hasFooter(file: OpenFile): boolean {
  const bytes = Buffer.alloc(footerBytes)
  const offset = Math.max(0, file.size() - footerBytes)
  const found = file.read(bytes, offset)
  readFooter(bytes.subarray(0, found), file.path, offset)
  return true
}

function hasRecord(file: OpenFile, number: number): boolean {
  for (const _ of new LogReader(file, number).records()) return true
  return false
}
