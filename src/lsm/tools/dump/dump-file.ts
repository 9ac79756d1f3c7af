/** Prints the contents of a database file; changes nothing, whether the database is open or closed. */
import { basename } from 'node:path'
import { ioError, notSupported } from '../../errors.ts'
import { absoluteLocation } from '../../fs/absolute-location.ts'
import { parseFileName } from '../../fs/file-names.ts'
import type { FileSystem, OpenFile } from '../../fs/file-system.ts'
import { nodeFileSystem } from '../../fs/node-file-system.ts'
import { dumpLog, dumpManifest } from './dump-log.ts'
import { dumpTable } from './dump-table.ts'
import { type DumpOptions, DumpText } from './text.ts'

/** Options of dumpFile(). */
export type DumpFileOptions = DumpOptions & { readonly fileSystem?: FileSystem | undefined }

/**
 * Yields a table, log or manifest as lines of text. Lines that begin with `!` report damage, which ends only the
 * damaged part.
 * @param path its name gives the file's kind, and is part of its checksums
 * @throws LEVEL_IO_ERROR; LEVEL_NOT_SUPPORTED for any other file, and for a later format
 * @example
 * const table = readdirSync('store').find((name) => name.endsWith('.sst'))
 * for (const line of dumpFile(`store/${table}`, { limit: 10 })) console.log(line)
 */
export function dumpFile(path: string, options: DumpFileOptions = {}): Generator<string, void> {
  return lines(absoluteLocation(path, options.fileSystem), options)
}

function* lines(path: string, options: DumpFileOptions): Generator<string, void> {
  const { kind, number = 0 } = parseFileName(basename(path)) ?? {}
  const dump = kind === 'table' ? dumpTable : kind === 'log' ? dumpLog : kind === 'manifest' ? dumpManifest : undefined
  if (dump === undefined) throw notSupported(`${path} does not have the name of a petaldb table, log or manifest`)
  let file: OpenFile
  try {
    file = (options.fileSystem ?? nodeFileSystem).open(path, 'read')
  } catch (error) {
    throw ioError(`Cannot open ${path}`, error, { path })
  }
  try {
    yield* dump(file, number, new DumpText(options))
  } finally {
    file.close()
  }
}
