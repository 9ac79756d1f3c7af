/**
 * The value sections of a table in a separate file beside it: used with placement 'side-file', and for rebuilding
 * filters without rewriting the table.
 *
 * Invariants:
 * 1. A side file is complete or absent: it is written under a temporary name, synced, and renamed.
 * 2. It belongs to one table, identified by its number and by a checksum of its manifest entry. A file left behind by
 *    a crash is not mistaken for that of a later table with the same number.
 *
 * Encoding: magic "petalvf1" | header length u32 | crc u32 of the header | header | sections, one after another.
 * Header: table number u64 | crc u32 of the table's description | number of sections varint, and for each: length of
 * the name u8, name, length varint, crc u32.
 */
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { corruption, ioError, reading } from '../errors.ts'
import { readU53, writeU32, writeU53 } from '../format/bytes.ts'
import type { Section } from '../format/section-collector.ts'
import { maxVarintBytes, writeVarint } from '../format/varint.ts'
import { sideFileName, temporaryName } from '../fs/file-names.ts'
import type { FileSystem, OpenFile } from '../fs/file-system.ts'
import type { TableMeta } from '../version/table-meta.ts'
import { Decoder } from './decoder.ts'

const magic = Buffer.from('petalvf1')
const prefixBytes = 16
const maxHeaderBytes = 64 * 1024
const maxSections = 64

interface Place {
  readonly offset: number
  readonly length: number
  readonly crc: number
}

/**
 * Writes and syncs the side file of a table that was just written; its name becomes durable when the directory is
 * synced.
 * @throws LEVEL_IO_ERROR
 */
export async function writeSideFile(
  fileSystem: FileSystem,
  directory: string,
  meta: TableMeta,
  sections: readonly Section[]
): Promise<void> {
  const temporary = join(directory, temporaryName(meta.number))
  const path = join(directory, sideFileName(meta.number))
  try {
    const file = fileSystem.open(temporary, 'create')
    try {
      let offset = 0
      for (const bytes of [encodePlaces(meta, sections), ...sections.map((section) => section.bytes)]) {
        file.write(bytes, offset)
        offset += bytes.length
      }
      await file.sync()
    } finally {
      file.close()
    }
    fileSystem.rename(temporary, path)
  } catch (error) {
    throw ioError(`Cannot write ${path}`, error, { path })
  }
}

/** Reads sections by name. The file is open only while a section is read. */
export class SideFile {
  readonly path: string
  readonly #fileSystem: FileSystem
  readonly #places: ReadonlyMap<string, Place>

  private constructor(path: string, fileSystem: FileSystem, places: ReadonlyMap<string, Place>) {
    this.path = path
    this.#fileSystem = fileSystem
    this.#places = places
  }

  /**
   * Undefined if the table has no side file, or if the file belongs to another table.
   * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  static open(fileSystem: FileSystem, directory: string, meta: TableMeta): SideFile | undefined {
    const path = join(directory, sideFileName(meta.number))
    if (reading(path, () => fileSystem.size(path)) === undefined) return undefined
    const places = withFile(fileSystem, path, (file) => readPlaces(file, meta))
    return places === undefined ? undefined : new SideFile(path, fileSystem, places)
  }

  /** @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
  section(name: string): Uint8Array | undefined {
    const place = this.#places.get(name)
    if (place === undefined) return undefined
    return withFile(this.#fileSystem, this.path, (file) => {
      const bytes = read(file, place.offset, place.length)
      if (crc32(bytes) !== place.crc) {
        throw corruption(`checksum mismatch in section ${name}`, { path: this.path, offset: place.offset })
      }
      return bytes
    })
  }
}

function encodePlaces(meta: TableMeta, sections: readonly Section[]): Uint8Array {
  const table = new Uint8Array(12)
  writeU53(table, 0, meta.number)
  writeU32(table, 8, describe(meta))
  const header = Buffer.concat([
    table,
    varint(sections.length),
    ...sections.flatMap(({ name, bytes }) => {
      const crc = new Uint8Array(4)
      writeU32(crc, 0, crc32(bytes))
      return [Uint8Array.of(name.length), Buffer.from(name, 'latin1'), varint(bytes.length), crc]
    })
  ])
  const prefix = new Uint8Array(prefixBytes)
  prefix.set(magic)
  writeU32(prefix, 8, header.length)
  writeU32(prefix, 12, crc32(header))
  return Buffer.concat([prefix, header])
}

function readPlaces(file: OpenFile, meta: TableMeta): Map<string, Place> | undefined {
  const { path } = file
  const prefix = new Decoder(read(file, 0, prefixBytes), path)
  if (magic.compare(prefix.take(8, 'magic')) !== 0) throw prefix.damaged('not a side file')
  const length = prefix.u32('header length')
  const crc = prefix.u32('header checksum')
  if (length > maxHeaderBytes) throw prefix.damaged(`a header of ${length} bytes is too long`)
  const bytes = read(file, prefixBytes, length)
  if (crc32(bytes) !== crc) throw prefix.damaged('checksum mismatch in the header')

  const header = new Decoder(bytes, path)
  const number = readU53(header.take(8, 'table number'), 0)
  if (number !== meta.number || header.u32('table') !== describe(meta)) return undefined
  const count = header.varint('number of sections')
  if (count > maxSections) throw header.damaged(`too many sections: ${count}`)
  const places = new Map<string, Place>()
  const size = sizeOf(file)
  let offset = prefixBytes + length
  for (let i = 0; i < count; i++) {
    const name = Buffer.from(header.take(header.byte('name'), 'name')).toString('latin1')
    const place = { offset, length: header.varint('length'), crc: header.u32('checksum') }
    offset += place.length
    if (offset > size) throw header.damaged(`section ${name} ends at ${offset}, but the file ends at ${size}`)
    places.set(name, place)
  }
  header.end()
  return places
}

/** A checksum of the table's manifest entry. */
function describe(meta: TableMeta): number {
  const { number, bytes, smallestSequence, largestSequence, entries, tombstones, rawBytes } = meta
  const numbers = Float64Array.of(number, bytes, smallestSequence, largestSequence, entries, tombstones, rawBytes)
  const keys = crc32(meta.largest, crc32(meta.smallest))
  return crc32(new Uint8Array(numbers.buffer), keys)
}

function withFile<T>(fileSystem: FileSystem, path: string, use: (file: OpenFile) => T): T {
  const file = reading(path, () => fileSystem.open(path, 'read'))
  try {
    return use(file)
  } finally {
    reading(path, () => file.close())
  }
}

function read(file: OpenFile, offset: number, length: number): Uint8Array {
  const size = sizeOf(file)
  if (offset + length > size) {
    throw corruption(`expected ${length} bytes, but the file ends at ${size}`, { path: file.path, offset })
  }
  const bytes = new Uint8Array(length)
  const count = reading(file.path, () => file.read(bytes, offset))
  if (count !== length) throw corruption(`expected ${length} bytes, got ${count}`, { path: file.path, offset })
  return bytes
}

function sizeOf(file: OpenFile): number {
  return reading(file.path, () => file.size())
}

function varint(value: number): Uint8Array {
  const bytes = new Uint8Array(maxVarintBytes)
  return bytes.subarray(0, writeVarint(bytes, 0, value))
}
