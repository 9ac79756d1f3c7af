/** The records of a unit that could not be taken as it was built, to be inserted the ordinary way. */
import type { Document } from '../../model/types.ts'
import { JsonRecord, textOf } from '../documents/json-record.ts'
import { decodeRecord } from '../documents/record.ts'

const lineFeed = 0x0a

/**
 * @param unit records, each ended by a line feed
 * @param maxDocuments of a run @param maxBytes of a run, if it is not one record alone
 */
export function* recordRuns(
  unit: Uint8Array,
  maxDocuments: number,
  maxBytes: number
): Generator<readonly (JsonRecord | Document)[]> {
  const bytes = Buffer.from(unit.buffer, unit.byteOffset, unit.length)
  let run: (JsonRecord | Document)[] = []
  let runStart = 0
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(lineFeed, start)
    if (end < 0) throw new RangeError('A unit ends in the middle of a record')
    if (run.length === maxDocuments || (run.length > 0 && end - runStart > maxBytes)) {
      yield run
      run = []
      runStart = start
    }
    const record = new Uint8Array(unit.buffer, unit.byteOffset + start, end - start)
    run.push(JsonRecord.ofRecord(record) ?? decodeRecord(textOf(record)))
    start = end + 1
  }
  if (run.length > 0) yield run
}
