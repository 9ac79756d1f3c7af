/** Stored records as documents to be re-indexed, without copying or decoding them. */
import type { Document } from '../../model/types.ts'
import type { JsonForm } from '../../sharded-bloom/byte-scan/json-form.ts'
import type { StoredDocument, StoredRun } from '../../sharded-bloom/stored-source.ts'
import { decodeRecord, formOfRecord, markBytesOf } from '../documents/record.ts'
import type { DocumentReader } from '../read/document-reader.ts'
import type { DocumentScan } from '../read/document-scan.ts'
import { runsOfReader, runsOfScan } from '../read/runs.ts'

/** Maximum number of UTF-8 bytes of a UTF-16 unit. */
const maxBytesPerUnit = 3

/** Yields the records of a reader, and closes it. */
export function storedRunsOfReader(reader: DocumentReader): AsyncGenerator<StoredRun> {
  return runsOfReader(reader, (entries) => recordsOf(reader, entries))
}

/** Like storedRunsOfReader(), for a scan. */
export function storedRunsOfScan(scan: DocumentScan): AsyncGenerator<StoredRun> {
  return runsOfScan(scan, recordsIn)
}

function* recordsOf(reader: DocumentReader, entries: Awaited<ReturnType<DocumentReader['next']>>) {
  const encoder = new TextEncoder()
  const record = new StoredRecord()
  let bytes = new Uint8Array(64 * 1024)
  for (const [key, text] of entries) {
    if (text.length * maxBytesPerUnit > bytes.length) bytes = new Uint8Array(text.length * maxBytesPerUnit)
    yield record.set(reader.ordinalOf(key), bytes, 0, encoder.encodeInto(text, bytes).written, () => text)
  }
}

function* recordsIn(scan: DocumentScan) {
  const record = new StoredRecord()
  const text = (): string => scan.text()
  while (scan.next()) yield record.set(scan.ordinal, scan.bytes, scan.start, scan.end, text)
}

/** One object for all records of a run: a new one for each would be most of the garbage of a rebuild. */
class StoredRecord implements StoredDocument {
  ordinal = 0
  bytes: Uint8Array | undefined
  start = 0
  length = 0
  form: JsonForm = 'json'
  #text: (() => string) | undefined

  set(ordinal: number, bytes: Uint8Array, start: number, end: number, text: () => string): this {
    const form = formOfRecord(bytes, start)
    const markBytes = form === undefined ? 0 : markBytesOf(form)
    this.ordinal = ordinal
    this.bytes = form === undefined ? undefined : bytes
    this.start = start + markBytes
    this.length = end - start - markBytes
    this.form = form ?? 'json'
    this.#text = text
    return this
  }

  document(): Document {
    return decodeRecord(this.#text!())
  }
}
