/** Stored records in runs, for reindexing all documents, and the decoding of a record in a run. */
import { nextTurn } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import type { JsonForm } from '../../sharded-bloom/byte-scan/json-form.ts'
import type { StoredDocument, StoredRun } from '../../sharded-bloom/stored-source.ts'
import { decodeRecord, formOfRecord, markBytesOf } from '../documents/record.ts'
import type { DocumentReader } from '../read/document-reader.ts'
import type { DocumentScan } from '../read/document-scan.ts'

/** Runs are copied without checking the clock. */
const maxRunDocuments = 64
const runBytes = 64 * 1024
/** Maximum number of UTF-8 bytes of a UTF-16 unit. */
const maxBytesPerUnit = 3

/** Yields the records of a reader in runs, and closes the reader. */
export async function* runsOfReader(reader: DocumentReader): AsyncGenerator<StoredRun> {
  const run = new RunMemory()
  const encoder = new TextEncoder()
  try {
    for (let entries = await reader.next(); entries.length > 0; entries = await reader.next()) {
      for (const [key, text] of entries) {
        const room = run.reserve(text.length * maxBytesPerUnit)
        run.add(reader.ordinalOf(key), encoder.encodeInto(text, room).written)
        if (!run.isFull) continue
        yield run
        run.clear()
      }
    }
    if (run.count > 0) yield run
  } finally {
    await reader.close()
  }
}

/** Like runsOfReader(), for a store whose records can be copied as bytes. */
export async function* runsOfScan(scan: DocumentScan): AsyncGenerator<StoredRun> {
  const run = new RunMemory()
  try {
    while (scan.prepareSome()) await nextTurn()
    while (scan.next()) {
      const { ordinal, bytes, start, end } = scan
      run.reserve(end - start).set(bytes.subarray(start, end))
      run.add(ordinal, end - start)
      if (!run.isFull) continue
      yield run
      run.clear()
    }
    if (run.count > 0) yield run
  } finally {
    await scan.close()
  }
}

/** Decodes a record of a run. */
export function storedDocument(ordinal: number, record: Uint8Array): StoredDocument {
  return new RecordOfRun(ordinal, record)
}

class RunMemory implements StoredRun {
  readonly ordinals = new Float64Array(maxRunDocuments)
  readonly ends = new Uint32Array(maxRunDocuments)
  bytes = new Uint8Array(2 * runBytes)
  count = 0
  #used = 0

  get isFull(): boolean {
    return this.count === maxRunDocuments || this.#used >= runBytes
  }

  clear(): void {
    this.count = 0
    this.#used = 0
  }

  /** Reserves room for that many bytes after the last record. */
  reserve(bytes: number): Uint8Array {
    const end = this.#used + bytes
    if (end > this.bytes.length) {
      const larger = new Uint8Array(2 * end)
      larger.set(this.bytes.subarray(0, this.#used))
      this.bytes = larger
    }
    return this.bytes.subarray(this.#used, end)
  }

  /** Adds the record that was written to the reserved room. */
  add(ordinal: number, bytes: number): void {
    this.#used += bytes
    this.ordinals[this.count] = ordinal
    this.ends[this.count++] = this.#used
  }
}

const decoder = new TextDecoder()

class RecordOfRun implements StoredDocument {
  readonly ordinal: number
  readonly json: Uint8Array | undefined
  readonly form: JsonForm
  readonly #record: Uint8Array

  constructor(ordinal: number, record: Uint8Array) {
    this.ordinal = ordinal
    this.#record = record
    const form = formOfRecord(record)
    this.json = form === undefined ? undefined : markBytesOf(form) === 0 ? record : record.subarray(markBytesOf(form))
    this.form = form ?? 'json'
  }

  document(): Document {
    return decodeRecord(decoder.decode(this.#record))
  }
}
