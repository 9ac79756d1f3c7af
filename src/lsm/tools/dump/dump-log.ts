/** Prints logs and manifests record by record, with one record in memory at a time. */
import type { Place } from '../../errors.ts'
import { LogReader } from '../../format/log-reader.ts'
import { readHeader, recordHeaderBytes } from '../../format/log-record.ts'
import { decodeEdit, type VersionEdit } from '../../format/version-edit.ts'
import { decodeBatches } from '../../format/write-batch.ts'
import type { OpenFile } from '../../fs/file-system.ts'
import { isDamage } from '../repair/losses.ts'
import { count, type DumpText, damage } from './text.ts'

export function* dumpLog(file: OpenFile, number: number, text: DumpText): Generator<string, void> {
  yield `log ${number}, ${count(file.size(), 'byte')}`
  yield* dumpRecords(file, number, (payload, offset) => operations(payload, file.path, offset, text))
}

export function* dumpManifest(file: OpenFile, number: number, text: DumpText): Generator<string, void> {
  yield `manifest ${number}, ${count(file.size(), 'byte')}`
  yield* dumpRecords(file, number, (payload, offset) => edit(payload, { path: file.path, offset }, text))
}

function* dumpRecords(
  file: OpenFile,
  number: number,
  dump: (payload: Uint8Array, offset: number) => Iterable<string>
): Generator<string, void> {
  const reader = new LogReader(file, number)
  try {
    for (const { payload, offset } of reader.records()) {
      yield `record at ${offset}: ${count(payload.length, 'byte')}, synced up to ${syncedOffset(file, number, offset)}`
      yield* dump(payload, offset)
    }
  } catch (error) {
    if (!isDamage(error)) throw error
    yield damage(error)
  }
  const behind = reader.fileBytes - reader.end
  if (behind > 0)
    yield `end at ${reader.end}, followed by ${count(behind, 'byte')}: a torn record or remains of an older log`
}

function syncedOffset(file: OpenFile, number: number, offset: number): number {
  const bytes = Buffer.alloc(recordHeaderBytes)
  file.read(bytes, offset)
  return readHeader(bytes, 0, number, offset)?.syncedOffset ?? 0
}

function operations(payload: Uint8Array, path: string, offset: number, text: DumpText): string[] {
  const lines: string[] = []
  try {
    decodeBatches(payload, 0, payload.length, { path, offset }, (operation) => {
      lines.push(...text.entry(operation))
    })
  } catch (error) {
    if (!isDamage(error)) throw error
    lines.push(damage(error))
  }
  lines.push(...text.omitted())
  return lines
}

function* edit(payload: Uint8Array, place: Place, text: DumpText): Generator<string, void> {
  try {
    yield* fields(decodeEdit(payload, place), text)
  } catch (error) {
    if (!isDamage(error)) throw error
    yield damage(error)
  }
}

function* fields(edit: VersionEdit, text: DumpText): Generator<string, void> {
  const { formatVersion, comparator, extractor, logNumber, lastSequence, nextFileNumber } = edit
  if (formatVersion !== undefined) yield `  format ${formatVersion}`
  if (comparator !== undefined) yield `  keys in ${comparator} order`
  if (extractor !== undefined) yield `  extractor ${extractor.name}, version ${extractor.version}`
  if (logNumber !== undefined) yield `  logs from ${logNumber} on`
  if (lastSequence !== undefined) yield `  last sequence ${lastSequence}`
  if (nextFileNumber !== undefined) yield `  next file ${nextFileNumber}`
  for (const { level, partition, key } of edit.compactionPointers ?? []) {
    yield `  level ${level}, partition ${text.quoted(partition)}: compaction continues at ${text.quoted(key)}`
  }
  for (const { level, number } of edit.deletedTables ?? []) yield `  level ${level}: - table ${number}`
  for (const { level, table } of edit.newTables ?? []) {
    const { number, bytes, smallest, largest, smallestSequence, largestSequence, entries, tombstones } = table
    yield `  level ${level}: + table ${number}, ${count(bytes, 'byte')}, ${text.quoted(smallest)} to ${text.quoted(largest)}`
    yield `    ${count(entries, 'entry', 'entries')}, ${count(tombstones, 'tombstone')}, sequences ${smallestSequence} to ${largestSequence}`
  }
}
