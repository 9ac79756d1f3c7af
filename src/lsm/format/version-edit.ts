/**
 * A change of the store's state, as the manifest records it: added and deleted tables, and counters. Fields are
 * tagged; an absent field is unchanged.
 */
import { notSupported, type Place } from '../errors.ts'
import type { TableMeta } from '../version/table-meta.ts'
import { maxSequence } from './entry.ts'
import { FieldReader, FieldWriter } from './field-coding.ts'
import { recordHeaderBytes } from './log-record.ts'

/** Levels 0…6. */
export const levelCount = 7

/** The directory format that this code writes, and the newest that it reads. */
export const formatVersion = 1

/** Keys are ordered bytewise; there is no other comparator. */
export const comparatorName = 'bytewise'

export interface VersionEdit {
  /** Only in the first edit of a manifest. */
  readonly formatVersion?: number
  readonly comparator?: string
  /** The extractor of the value filters in new tables. Informational: every table names its own extractor. */
  readonly extractor?: ExtractorIdentity
  /**
   * The oldest log that recovery has to read. Everything up to `lastSequence` is in tables, and the first batch of
   * this log begins with the next number.
   */
  readonly logNumber?: number
  readonly lastSequence?: number
  /** Greater than every file number in use. */
  readonly nextFileNumber?: number
  readonly compactionPointers?: readonly CompactionPointer[]
  readonly deletedTables?: readonly DeletedTable[]
  readonly newTables?: readonly NewTable[]
}

export interface ExtractorIdentity {
  readonly name: string
  readonly version: number
  /** 32 bits. */
  readonly optionsHash: number
}

/** Where the next compaction of a level, within a partition, continues. */
export interface CompactionPointer {
  readonly level: number
  readonly partition: Uint8Array
  readonly key: Uint8Array
}

export interface DeletedTable {
  readonly level: number
  readonly number: number
}

export interface NewTable {
  readonly level: number
  readonly table: TableMeta
}

/** Stored in files: the numbers must not change. */
const tags = {
  formatVersion: 1,
  comparator: 2,
  extractor: 3,
  logNumber: 4,
  lastSequence: 5,
  nextFileNumber: 6,
  compactionPointer: 7,
  deletedTable: 8,
  newTable: 9
} as const

/** A log record with the edit as its payload; its header is filled in later. */
export function encodeEdit(edit: VersionEdit): Uint8Array {
  const writer = new FieldWriter(recordHeaderBytes)
  const number = (tag: number, value: number | undefined): void => {
    if (value === undefined) return
    writer.number(tag)
    writer.number(value)
  }
  number(tags.formatVersion, edit.formatVersion)
  if (edit.comparator !== undefined) {
    writer.number(tags.comparator)
    writer.text(edit.comparator)
  }
  if (edit.extractor !== undefined) {
    writer.number(tags.extractor)
    writer.text(edit.extractor.name)
    writer.number(edit.extractor.version)
    writer.number(edit.extractor.optionsHash)
  }
  number(tags.logNumber, edit.logNumber)
  number(tags.lastSequence, edit.lastSequence)
  number(tags.nextFileNumber, edit.nextFileNumber)
  for (const { level, partition, key } of edit.compactionPointers ?? []) {
    writer.number(tags.compactionPointer)
    writer.number(level)
    writer.bytes(partition)
    writer.bytes(key)
  }
  for (const deleted of edit.deletedTables ?? []) {
    writer.number(tags.deletedTable)
    writer.number(deleted.level)
    writer.number(deleted.number)
  }
  for (const { level, table } of edit.newTables ?? []) {
    writer.number(tags.newTable)
    writer.number(level)
    writeTable(writer, table)
  }
  return writer.finish()
}

/**
 * @param place of the payload, for errors
 * @throws LEVEL_CORRUPTION; LEVEL_NOT_SUPPORTED for an unknown tag or format version
 */
export function decodeEdit(payload: Uint8Array, place: Place): VersionEdit {
  const reader = new FieldReader(payload, place)
  const compactionPointers: CompactionPointer[] = []
  const deletedTables: DeletedTable[] = []
  const newTables: NewTable[] = []
  const edit: { -readonly [Field in keyof VersionEdit]: VersionEdit[Field] } = {}
  while (!reader.isAtEnd) {
    const tag = reader.number('tag')
    if (tag === tags.formatVersion) {
      edit.formatVersion = reader.number('format version', 1)
      // The fields after it may have another meaning in that format.
      if (edit.formatVersion > formatVersion) {
        const both = `${edit.formatVersion}; this version of petaldb reads formats up to ${formatVersion}`
        throw notSupported(`${place.path} has format ${both}`)
      }
    } else if (tag === tags.comparator) edit.comparator = reader.text('comparator')
    else if (tag === tags.extractor) edit.extractor = readExtractor(reader)
    else if (tag === tags.logNumber) edit.logNumber = reader.number('log number')
    else if (tag === tags.lastSequence) edit.lastSequence = reader.number('last sequence', 0, maxSequence)
    else if (tag === tags.nextFileNumber) edit.nextFileNumber = reader.number('next file number', 1)
    else if (tag === tags.compactionPointer) {
      const [level, partition] = [readLevel(reader), reader.bytes('partition')]
      compactionPointers.push({ level, partition, key: reader.bytes('compaction pointer') })
    } else if (tag === tags.deletedTable) {
      deletedTables.push({ level: readLevel(reader), number: reader.number('number of the deleted table', 1) })
    } else if (tag === tags.newTable) {
      newTables.push({ level: readLevel(reader), table: readTable(reader) })
    } else {
      throw notSupported(`${place.path} has a field with tag ${tag}, which this version of petaldb does not support`)
    }
  }
  return { ...edit, compactionPointers, deletedTables, newTables }
}

function readLevel(reader: FieldReader): number {
  return reader.number('level', 0, levelCount - 1)
}

function readExtractor(reader: FieldReader): ExtractorIdentity {
  return {
    name: reader.text('extractor'),
    version: reader.number('extractor version'),
    optionsHash: reader.number('hash of the extractor options', 0, 2 ** 32 - 1)
  }
}

function writeTable(writer: FieldWriter, table: TableMeta): void {
  writer.number(table.number)
  writer.number(table.bytes)
  writer.bytes(table.smallest)
  writer.bytes(table.largest)
  writer.number(table.smallestSequence)
  writer.number(table.largestSequence)
  writer.number(table.entries)
  writer.number(table.tombstones)
  writer.number(table.rawBytes)
}

function readTable(reader: FieldReader): TableMeta {
  const number = reader.number('table number', 1)
  const bytes = reader.number('table size', 1)
  const smallest = reader.bytes('smallest key')
  const largest = reader.bytes('largest key')
  if (Buffer.compare(smallest, largest) > 0)
    throw reader.damage(`the largest key of table ${number} is before its smallest key`)
  const smallestSequence = reader.number('smallest sequence', 0, maxSequence)
  const largestSequence = reader.number('largest sequence', smallestSequence, maxSequence)
  const entries = reader.number('entries', 1)
  const tombstones = reader.number('tombstones', 0, entries)
  const rawBytes = reader.number('raw bytes')
  return { number, bytes, smallest, largest, smallestSequence, largestSequence, entries, tombstones, rawBytes }
}
