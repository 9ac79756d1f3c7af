/**
 * The header of a table's value sections: which extractor made them with which parameters, and the zones of the whole
 * table. Small enough to be kept in memory for every table.
 *
 * Encoding: format (1) u8 | extractor: name, version varint, options hash u32 u32 | m varint | k varint | bits set
 * varint | pairs varint | hundredths of bits per pair of the block filters varint | number of zone fields u8, and for
 * each: name, zone (zone-maps.ts). A name is its length as varint and its UTF-8 bytes.
 */
import { writeU32 } from '../format/bytes.ts'
import { varintBytes, writeVarint } from '../format/varint.ts'
import { Decoder } from './decoder.ts'
import { type ExtractorIdentity, maxZoneFields } from './load-extractor.ts'
import { decodeZone, encodeZone, type Zone } from './zone-maps.ts'

/** Section names. */
export const sectionNames = {
  header: 'values',
  filter: 'values.filter',
  blockFilters: 'values.blocks',
  blockZones: 'values.zones'
} as const

const format = 1
const maxNameBytes = 1024

export interface ValueHeader {
  readonly extractor: ExtractorIdentity
  /** m and k of the table's filter; both 0 if it has none. */
  readonly filterBits: number
  readonly filterHashes: number
  /** Number of set bits among the m. */
  readonly bitsSet: number
  /** Number of pairs that the extractor emitted, including repetitions. */
  readonly pairs: number
  /** Bits per pair of the block filters, in hundredths; 0 if there are none. */
  readonly blockFilterHundredths: number
  /** Zones of the zone fields, in the extractor's order. */
  readonly zones: readonly FieldZone[]
}

export interface FieldZone {
  readonly field: string
  /** Undefined if no entry has the field. */
  readonly zone: Zone | undefined
}

export function encodeHeader(header: ValueHeader): Uint8Array {
  const { extractor, zones } = header
  const hash = new Uint8Array(8)
  writeU32(hash, 0, extractor.optionsLow)
  writeU32(hash, 4, extractor.optionsHigh)
  return Buffer.concat([
    Uint8Array.of(format),
    encodeName(extractor.name),
    encodeNumber(extractor.version),
    hash,
    encodeNumber(header.filterBits),
    encodeNumber(header.filterHashes),
    encodeNumber(header.bitsSet),
    encodeNumber(header.pairs),
    encodeNumber(header.blockFilterHundredths),
    Uint8Array.of(zones.length),
    ...zones.flatMap(({ field, zone }) => [encodeName(field), encodeZone(zone)])
  ])
}

/**
 * Undefined for an unknown format: such a table answers "maybe".
 * @throws LEVEL_CORRUPTION
 */
export function decodeHeader(bytes: Uint8Array, path: string): ValueHeader | undefined {
  const decoder = new Decoder(bytes, path)
  if (decoder.byte('format') !== format) return undefined
  const extractor = {
    name: decodeName(decoder),
    version: decoder.varint('version'),
    optionsLow: decoder.u32('options hash'),
    optionsHigh: decoder.u32('options hash')
  }
  const filterBits = decoder.varint('bits')
  const filterHashes = decoder.varint('hashes')
  const bitsSet = decoder.varint('bits set')
  const pairs = decoder.varint('pairs')
  const blockFilterHundredths = decoder.varint('bits per pair')
  const fields = decoder.byte('zone fields')
  if (fields > maxZoneFields) throw decoder.damaged(`too many zone fields: ${fields}`)
  const zones: FieldZone[] = []
  for (let i = 0; i < fields; i++) zones.push({ field: decodeName(decoder), zone: decodeZone(decoder) })
  decoder.end()
  if (bitsSet > filterBits) throw decoder.damaged(`${bitsSet} bits set in a filter of ${filterBits} bits`)
  return { extractor, filterBits, filterHashes, bitsSet, pairs, blockFilterHundredths, zones }
}

function encodeName(name: string): Uint8Array {
  const text = Buffer.from(name)
  return Buffer.concat([encodeNumber(text.length), text])
}

function decodeName(decoder: Decoder): string {
  const length = decoder.varint('name length')
  if (length > maxNameBytes) throw decoder.damaged(`a name of ${length} bytes is too long`)
  return Buffer.from(decoder.take(length, 'name')).toString()
}

function encodeNumber(value: number): Uint8Array {
  const bytes = new Uint8Array(varintBytes(value))
  writeVarint(bytes, 0, value)
  return bytes
}
