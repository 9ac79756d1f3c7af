/**
 * The value sections of one table, from the table itself or its side file.
 *
 * Invariants:
 * 1. Without filters, with those of another extractor, or with damaged ones, the answer is "maybe": derived data never
 *    hides an entry, and damage to it is reported without failing a read.
 */
import { join } from 'node:path'
import { hasCode } from '../errors.ts'
import { sideFileName, tableName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import type { TableMeta } from '../version/table-meta.ts'
import { decodeHeader, sectionNames, type ValueHeader } from './header.ts'
import { type ExtractorIdentity, isSameExtractor } from './load-extractor.ts'
import { SideFile } from './side-file.ts'
import type { ValueTable } from './value-view.ts'
import { type EncodedRange, mayOverlap } from './zone-maps.ts'

/** The store's configuration of value sections. */
export interface ValueExpectation {
  readonly extractor: ExtractorIdentity
  /** m and k of the filters that the filter index combines. */
  readonly filterBits: number
  readonly filterHashes: number
  readonly fileSystem: FileSystem
  readonly directory: string
}

export class TableValues {
  /** The header for the current extractor; undefined if there is none. */
  readonly header: ValueHeader | undefined
  /** The LEVEL_CORRUPTION met while reading. */
  readonly damage: Error | undefined
  readonly #side: SideFile | undefined
  readonly #filterBits: number
  readonly #filterHashes: number
  readonly #path: string

  constructor(meta: TableMeta, table: ValueTable, expected: ValueExpectation) {
    const { damage, ...best } = findHeader(meta, table, expected)
    this.header = best.header
    this.#side = best.side
    this.damage = damage
    this.#filterBits = expected.filterBits
    this.#filterHashes = expected.filterHashes
    this.#path = join(expected.directory, this.#side === undefined ? tableName(meta.number) : sideFileName(meta.number))
  }

  /** Whether there is a filter that can be combined with those of other tables. */
  get hasFilter(): boolean {
    return fits(this.header, this.#filterBits, this.#filterHashes)
  }

  /** Reads the table's filter; undefined if there is none or it is damaged. */
  filter(table: ValueTable): Uint8Array | undefined {
    if (!this.hasFilter) return undefined
    if (this.header?.bitsSet === 0) return new Uint8Array(Math.ceil(this.#filterBits / 8))
    const bytes = this.section(sectionNames.filter, table)
    return bytes?.length === Math.ceil(this.#filterBits / 8) ? bytes : undefined
  }

  /** Whether an entry may have a value of the field in the range. */
  mayHaveInRange(field: string, range: EncodedRange): boolean {
    const found = this.header?.zones.find((zone) => zone.field === field)
    return found === undefined || mayOverlap(found.zone, range)
  }

  /** Number of a zone field within the block zones; −1 if it has none. */
  zoneFieldNumber(field: string): number {
    return this.header?.zones.findIndex((zone) => zone.field === field) ?? -1
  }

  /** Reads a value section; undefined if it is missing or damaged. */
  section(name: string, table: ValueTable): Uint8Array | undefined {
    return unlessDamaged(() => (this.#side ?? table).section(name))
  }

  /** The file's path, for errors. */
  get path(): string {
    return this.#path
  }
}

/** Decodes derived data; undefined if it is damaged, which means that nothing is known. */
export function unlessDamaged<T>(decode: () => T): T | undefined {
  try {
    return decode()
  } catch (error) {
    if (hasCode(error, 'LEVEL_CORRUPTION')) return undefined
    throw error
  }
}

interface Candidate {
  readonly header: ValueHeader
  readonly side: SideFile | undefined
}

/** The table's own header if it fits, or the side file's if that fits better. */
function findHeader(
  meta: TableMeta,
  table: ValueTable,
  expected: ValueExpectation
): Partial<Candidate> & { damage?: Error } {
  const { extractor, filterBits, filterHashes, fileSystem, directory } = expected
  const candidates: Candidate[] = []
  let damage: Error | undefined
  const consider = (source: () => { readonly bytes: Uint8Array | undefined; readonly side: SideFile | undefined }) => {
    try {
      const { bytes, side } = source()
      const path = side?.path ?? join(directory, tableName(meta.number))
      const header = bytes === undefined ? undefined : decodeHeader(bytes, path)
      if (header !== undefined && isSameExtractor(header.extractor, extractor)) candidates.push({ header, side })
    } catch (error) {
      if (!hasCode(error, 'LEVEL_CORRUPTION')) throw error
      damage = error as Error
    }
  }

  consider(() => ({ bytes: table.section(sectionNames.header), side: undefined }))
  if (!candidates.some(({ header }) => fits(header, filterBits, filterHashes))) {
    consider(() => {
      const side = SideFile.open(fileSystem, directory, meta)
      return { bytes: side?.section(sectionNames.header), side }
    })
  }
  const best = candidates.find(({ header }) => fits(header, filterBits, filterHashes)) ?? candidates[0]
  return { ...best, ...(damage === undefined ? {} : { damage }) }
}

function fits(header: ValueHeader | undefined, bits: number, hashes: number): boolean {
  return header !== undefined && header.filterBits === bits && header.filterHashes === hashes && bits > 0
}
