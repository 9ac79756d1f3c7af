/** The directory of a table's sections: name length u8 | name | offset varint | payload bytes varint, repeated. */
import { corruption, type Place } from '../errors.ts'
import type { Handle } from './footer.ts'
import { maxVarintBytes, readVarint, varintBytes, writeVarint } from './varint.ts'

/** The format's own sections. */
export const keyFilterName = 'table.key-filter'
export const propertiesName = 'table.properties'

/** REQUIRES: names of at most 255 ASCII characters. */
export function writeMetaindex(sections: ReadonlyMap<string, Handle>): Uint8Array {
  const parts: Uint8Array[] = []
  for (const [name, { offset, payloadBytes }] of sections) {
    const part = Buffer.alloc(1 + name.length + 2 * maxVarintBytes)
    part[0] = name.length
    part.write(name, 1, 'latin1')
    const end = writeVarint(part, writeVarint(part, 1 + name.length, offset), payloadBytes)
    parts.push(part.subarray(0, end))
  }
  return Buffer.concat(parts)
}

/** @throws LEVEL_CORRUPTION if it is incomplete */
export function readMetaindex(bytes: Uint8Array, place: Place): Map<string, Handle> {
  const sections = new Map<string, Handle>()
  let at = 0
  while (at < bytes.length) {
    const nameEnd = at + 1 + bytes[at]!
    const name = Buffer.from(bytes.subarray(at + 1, nameEnd)).toString('latin1')
    const offset = readVarint(bytes, nameEnd, bytes.length)
    at = nameEnd + varintBytes(offset)
    const payloadBytes = readVarint(bytes, at, bytes.length)
    at += varintBytes(payloadBytes)
    if (offset < 0 || payloadBytes < 0) throw corruption('the metaindex is truncated', place)
    sections.set(name, { offset, payloadBytes })
  }
  return sections
}
