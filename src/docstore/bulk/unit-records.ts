/** Yields the records of a unit that could not be published as built, to be inserted the ordinary way. */
import type { Document } from '../../model/types.ts'
import { type JsonRecord, readRecord } from '../documents/json-record.ts'

const lineFeed = 0x0a

/** @param unit records, each ended by a line feed; JsonRecords are views of it */
export function* unitRecords(unit: Uint8Array): Generator<JsonRecord | Document> {
  const bytes = Buffer.from(unit.buffer, unit.byteOffset, unit.length)
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(lineFeed, start)
    if (end < 0) throw new RangeError('A unit ends in the middle of a record')
    const record = new Uint8Array(unit.buffer, unit.byteOffset + start, end - start)
    yield readRecord(record)
    start = end + 1
  }
}
