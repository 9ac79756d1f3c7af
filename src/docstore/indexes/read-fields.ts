/** Reads some fields of all documents of an ordinal range. */
import { nextTurn } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import { FieldPicker } from '../documents/field-picker.ts'
import { decodeRecord } from '../documents/record.ts'
import type { DocumentScan } from '../read/document-scan.ts'
import type { CollectionStore } from '../store/collection-store.ts'

export interface FieldsOfDocument {
  readonly ordinal: number
  /** With what is at the paths; what else it has is unspecified. */
  readonly document: Document
}

/** Yields the documents in runs, each to be used up before the next is requested. */
export async function* readFields(
  store: CollectionStore,
  paths: ReadonlySet<string>,
  from: number,
  to: number
): AsyncGenerator<Iterable<FieldsOfDocument>> {
  const scan = store.scan({ from, to }, store.readOptions(), Number.POSITIVE_INFINITY)
  if (scan !== undefined) {
    try {
      while (scan.prepareSome()) await nextTurn()
      yield fieldsIn(scan, new FieldPicker(paths))
    } finally {
      await scan.close()
    }
    return
  }
  const reader = store.documents({ from, to }, store.readOptions())
  try {
    for (let run = await reader.next(); run.length > 0; run = await reader.next()) {
      yield run.map(([key, record]) => ({ ordinal: reader.ordinalOf(key), document: decodeRecord(record) }))
    }
  } finally {
    await reader.close()
  }
}

function* fieldsIn(scan: DocumentScan, picker: FieldPicker): Generator<FieldsOfDocument> {
  while (scan.next()) {
    const document = picker.decode(scan.bytes, scan.start, scan.end) ?? decodeRecord(scan.text())
    yield { ordinal: scan.ordinal, document }
  }
}
