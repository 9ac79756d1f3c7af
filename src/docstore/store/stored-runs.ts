/** Documents as they are stored, in runs: for those who index all of them again. */
import { nextTurn } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import type { JsonForm } from '../../sharded-bloom/byte-scan/scanner.ts'
import type { StoredDocument } from '../../sharded-bloom/document-index.ts'
import { decodeRecord, formOf, jsonOf, jsonStart } from '../documents/record.ts'
import type { DocumentReader } from '../read/document-reader.ts'
import type { DocumentScan } from '../read/document-scan.ts'

/** A run is copied without a look at the clock. */
const maxRunDocuments = 64
const runBytes = 64 * 1024

/** Reads to the end and closes the reader. */
export async function* runsOfReader(reader: DocumentReader): AsyncGenerator<readonly StoredDocument[]> {
  try {
    for (let entries = await reader.next(); entries.length > 0; entries = await reader.next()) {
      yield entries.map(([key, text]) => new TextDocument(reader.ordinalOf(key), text))
    }
  } finally {
    await reader.close()
  }
}

/** As runsOfReader(), of a store whose records can be copied as bytes. A run is valid until the next one is asked for. */
export async function* runsOfScan(scan: DocumentScan): AsyncGenerator<readonly StoredDocument[]> {
  let room = new Uint8Array(2 * runBytes)
  try {
    while (scan.prepareSome()) await nextTurn()
    for (let isOver = false; !isOver; ) {
      const run: StoredDocument[] = []
      let used = 0
      while (run.length < maxRunDocuments && used < runBytes) {
        isOver = !scan.next()
        if (isOver) break
        const { ordinal, bytes, start, end } = scan
        const next = used + end - start
        // Those before keep the room they have.
        if (next > room.length) {
          room = new Uint8Array(2 * (next - used))
          used = 0
        }
        const record = room.subarray(used, used + end - start)
        record.set(bytes.subarray(start, end))
        used += record.length
        run.push(new BytesDocument(ordinal, record))
      }
      if (run.length > 0) yield run
    }
  } finally {
    await scan.close()
  }
}

class TextDocument implements StoredDocument {
  readonly ordinal: number
  readonly #text: string

  constructor(ordinal: number, text: string) {
    this.ordinal = ordinal
    this.#text = text
  }

  get json(): string | undefined {
    return jsonOf(this.#text)
  }

  get form(): JsonForm {
    return formOf(this.#text)
  }

  document(): Document {
    return decodeRecord(this.#text)
  }
}

const decoder = new TextDecoder()

class BytesDocument implements StoredDocument {
  readonly ordinal: number
  readonly json: Uint8Array | undefined
  readonly form: JsonForm
  readonly #record: Uint8Array

  constructor(ordinal: number, record: Uint8Array) {
    this.ordinal = ordinal
    this.#record = record
    const start = jsonStart(record)
    this.json = start === undefined ? undefined : start === 0 ? record : record.subarray(start)
    this.form = start === 0 ? 'json' : 'objectId'
  }

  document(): Document {
    return decodeRecord(decoder.decode(this.#record))
  }
}
