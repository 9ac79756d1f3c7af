/**
 * CURRENT: identifies the directory as a petaldb store and names the manifest that holds its state.
 *
 * Invariants:
 * 1. CURRENT is replaced atomically: write, sync, rename, sync of the directory. After a crash it names either the old
 *    manifest or the new one.
 * 2. Its first line is petaldb's own. LevelDB and its descendants put the name of a manifest there, so neither engine
 *    mistakes the other's directory for its own.
 * 3. Reading changes nothing on disk.
 */
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { corruption, notSupported } from '../errors.ts'
import { currentName, manifestName, parseFileName, temporaryName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { hasSystemCode } from '../fs/system-error.ts'

const magic = 'petaldb-lsm'
const currentFormat = 1
const maxBytes = 256

/**
 * The number of the current manifest; undefined if there is no database.
 * @throws LEVEL_NOT_SUPPORTED for another engine's directory or a newer format; LEVEL_CORRUPTION; Node's own errors
 */
export function readCurrent(fileSystem: FileSystem, directory: string): number | undefined {
  const path = join(directory, currentName)
  const text = readText(fileSystem, path)
  if (text === undefined) return undefined
  if (/^MANIFEST-\d+\n?$/.test(text)) {
    throw notSupported(`${directory} is a database of LevelDB or an engine derived from it, not of petaldb`)
  }
  const match = /^petaldb-lsm (\d{1,9})\n([^\n]+)\n([0-9a-f]{8})\n$/.exec(text)
  if (match === null) throw corruption('not in the format of petaldb', { path })
  const [, format = '', name = '', checksum] = match
  if (checksum !== checksumOf(bodyOf(format, name))) throw corruption('checksum mismatch', { path })
  if (Number(format) > currentFormat) {
    const both = `${format}; this version of petaldb reads formats up to ${currentFormat}`
    throw notSupported(`${path} has format ${both}`)
  }
  const manifest = parseFileName(name)
  if (manifest?.kind !== 'manifest') throw corruption(`names ${name}, which is not a manifest`, { path })
  return manifest.number
}

/**
 * Makes a manifest the current one, durably.
 * REQUIRES: the manifest and its name are durable.
 * @throws Node's own errors; which manifest is current is then unknown
 */
export async function writeCurrent(fileSystem: FileSystem, directory: string, manifestNumber: number): Promise<void> {
  await prepareCurrent(fileSystem, directory, manifestNumber)
  await installCurrent(fileSystem, directory, manifestNumber)
}

/** The first half of writeCurrent(), after which nothing has changed yet. @throws Node's own errors */
export async function prepareCurrent(fileSystem: FileSystem, directory: string, manifestNumber: number): Promise<void> {
  const body = bodyOf(String(currentFormat), manifestName(manifestNumber))
  const file = fileSystem.open(join(directory, temporaryName(manifestNumber)), 'create')
  try {
    file.write(Buffer.from(`${body}${checksumOf(body)}\n`), 0)
    await file.sync()
  } finally {
    file.close()
  }
}

/** The second half of writeCurrent(). @throws as writeCurrent() */
export async function installCurrent(fileSystem: FileSystem, directory: string, number: number): Promise<void> {
  fileSystem.rename(join(directory, temporaryName(number)), join(directory, currentName))
  await fileSystem.syncDirectory(directory)
}

function bodyOf(format: string, name: string): string {
  return `${magic} ${format}\n${name}\n`
}

function checksumOf(body: string): string {
  return crc32(body).toString(16).padStart(8, '0')
}

function readText(fileSystem: FileSystem, path: string): string | undefined {
  try {
    const file = fileSystem.open(path, 'read')
    try {
      const bytes = Buffer.alloc(maxBytes)
      return bytes.toString('latin1', 0, file.read(bytes, 0))
    } finally {
      file.close()
    }
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return undefined
    throw error
  }
}
