/** Reads some fields of all documents of an ordinal range. */
import type { Document } from '../../model/types.ts'
import { FieldPicker } from '../documents/field-picker/field-picker.ts'
import { decodeRecord } from '../documents/record.ts'
import type { DocumentScan } from '../read/document-scan.ts'
import { runsOfReader, runsOfScan } from '../read/runs.ts'
import type { CollectionStore } from '../store/collection-store.ts'

export interface FieldsOfDocument {
  readonly ordinal: number
  /** With what is at the paths; what else it has is unspecified. */
  readonly document: Document
}

/** Yields the documents in runs, each to be used up before the next is requested. */
export function readFields(
  store: CollectionStore,
  paths: ReadonlySet<string>,
  from: number,
  to: number
): AsyncGenerator<Iterable<FieldsOfDocument>> {
  const scan = store.scan({ from, to }, store.readOptions(), Number.POSITIVE_INFINITY)
  if (scan !== undefined) return runsOfScan(scan, () => fieldsIn(scan, new FieldPicker(paths)))
  const reader = store.documents({ from, to }, store.readOptions())
  return runsOfReader(reader, (entries) =>
    entries.map(([key, record]) => ({ ordinal: reader.ordinalOf(key), document: decodeRecord(record) }))
  )
}

function* fieldsIn(scan: DocumentScan, picker: FieldPicker): Generator<FieldsOfDocument> {
  while (scan.next()) {
    const document = picker.decode(scan.bytes, scan.start, scan.end) ?? decodeRecord(scan.text())
    yield { ordinal: scan.ordinal, document }
  }
}
