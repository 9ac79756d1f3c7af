/**
 * Finds the damaged records in LevelDB's logs, because its repair takes records without looking at their checksums: what
 * was changed in them is then saved as if it were sound.
 *
 * A log is blocks of 32 KiB. A record, which never crosses a block, is its masked CRC-32C (4 bytes) of what follows the
 * length, its length (2), its type (1) and its payload; where fewer than 7 bytes are left, a block ends with padding.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TimeSlice } from '../../model/time-slice.ts'
import { crcTable } from '../crc-table.ts'

const blockBytes = 32 * 1024
const headerBytes = 7
/** Of CRC-32C. */
const table = crcTable(0x82f6_3b78)

export interface DamagedRecord {
  readonly path: string
  readonly offset: number
}

/** Of each block only the first one: where the next begins is then unknown. @throws Node's own errors */
export async function damagedRecords(directory: string): Promise<DamagedRecord[]> {
  const found: DamagedRecord[] = []
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (!entry.isFile() || !isLog(entry.name)) continue
    const path = join(directory, entry.name)
    for (const offset of await damagedIn(await readFile(path))) found.push({ path, offset })
  }
  return found
}

function isLog(name: string): boolean {
  return /^\d{6,}\.log$/.test(name)
}

async function damagedIn(log: Buffer): Promise<number[]> {
  const found: number[] = []
  const timeSlice = new TimeSlice()
  for (let block = 0; block < log.length; block += blockBytes) {
    if (timeSlice.isOver()) await timeSlice.renew()
    const end = Math.min(block + blockBytes, log.length)
    let at = block
    while (at + headerBytes <= end) {
      const length = log.readUInt16LE(at + 4)
      const next = at + headerBytes + length
      // Zeros were written ahead; a record that the end of the file cuts off was being written.
      if ((length === 0 && log[at + 6] === 0) || (next > end && end === log.length)) break
      if (next > end || maskedCrc(log.subarray(at + 6, next)) !== log.readUInt32LE(at)) {
        found.push(at)
        break
      }
      at = next
    }
  }
  return found
}

function maskedCrc(bytes: Uint8Array): number {
  let crc = 0xffff_ffff
  for (const byte of bytes) crc = table[(crc ^ byte) & 0xff]! ^ (crc >>> 8)
  crc = ~crc >>> 0
  return (((crc >>> 15) | (crc << 17)) + 0xa282_ead8) >>> 0
}
