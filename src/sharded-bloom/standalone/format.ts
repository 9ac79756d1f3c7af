/**
 * The byte format of a standalone structure: a frame around the sections that its parts write. See
 * docs/sharded-bloom.md#bytes.
 *
 * | bytes | |
 * | --- | --- |
 * | 4 | `PSBF` |
 * | 4 | format, 1 |
 * | 4 | checksum(everything after it, format) |
 * | 4 + n | header: length, then JSON with the parameters and the number of ids by number of pairs |
 * | 8 + n | positions in use: length, then rows as in tail/bit-rows.ts |
 * | 8 + n | tail: length, then rows, or buckets as in tail/fingerprint-tail.ts |
 * | 8 + n | ids: length, then the codec's state |
 *
 * Little-endian. Input is checked before use, and nothing larger than it can fill is allocated.
 */
import { PetalError } from '../../model/errors.ts'
import { checksum } from '../records/checksum.ts'
import { ByteReader } from './byte-reader.ts'
import type { PairCounts } from './false-positives.ts'
import { type Parameters, parametersOf, type ShardedBloomOptions } from './options.ts'
import { BitRows } from './tail/bit-rows.ts'

const FORMAT = 1
const MAGIC = new TextEncoder().encode('PSBF')
const FRAME_BYTES = 12
const WHAT = 'sharded Bloom filter'

export interface Stored {
  readonly parameters: Parameters
  readonly pairCounts: PairCounts
  readonly used: Uint8Array
  readonly tail: Uint8Array
  readonly ids: Uint8Array
}

export function encode({ parameters, pairCounts, used, tail, ids }: Stored): Uint8Array {
  const counts = [...pairCounts].sort(([a], [b]) => a - b)
  const header = new TextEncoder().encode(JSON.stringify({ ...parameters, pairCounts: counts }))
  const sections = [used, tail, ids]
  const sectionBytes = sections.reduce((sum, section) => sum + 8 + section.length, 0)
  const bytes = new Uint8Array(FRAME_BYTES + 4 + header.length + sectionBytes)
  const view = new DataView(bytes.buffer)
  bytes.set(MAGIC)
  view.setUint32(4, FORMAT, true)
  view.setUint32(FRAME_BYTES, header.length, true)
  bytes.set(header, FRAME_BYTES + 4)
  let at = FRAME_BYTES + 4 + header.length
  for (const section of sections) {
    view.setBigUint64(at, BigInt(section.length), true)
    bytes.set(section, at + 8)
    at += 8 + section.length
  }
  view.setUint32(8, checksum(bytes.subarray(FRAME_BYTES), FORMAT), true)
  return bytes
}

/**
 * Decodes a structure; the sections are views of `bytes`.
 * @throws PetalError UnsupportedFormat for another format's number, DataCorruption for anything else that is wrong
 */
export function decode(bytes: Uint8Array): Stored {
  const reader = new ByteReader(bytes, WHAT)
  const magic = reader.take(MAGIC.length)
  if (!MAGIC.every((byte, i) => byte === magic[i])) throw reader.corrupt('it does not start with PSBF')
  const format = reader.u32()
  if (format !== FORMAT) {
    throw new PetalError('UnsupportedFormat', `${WHAT}: expected format ${FORMAT}, got ${format}`)
  }
  const sum = reader.u32()
  if (sum !== checksum(bytes.subarray(FRAME_BYTES), FORMAT)) throw reader.corrupt('checksum mismatch')
  const { parameters, pairCounts } = decodeHeader(reader.take(reader.u32()), reader)
  const [used, tail, ids] = [reader.take(reader.u64()), reader.take(reader.u64()), reader.take(reader.u64())] as const
  if (reader.remaining > 0) throw reader.corrupt(`${reader.remaining} extra bytes`)
  checkLengths(parameters, used.length, tail.length, reader)
  return { parameters, pairCounts, used, tail, ids }
}

function decodeHeader(bytes: Uint8Array, reader: ByteReader): Pick<Stored, 'parameters' | 'pairCounts'> {
  try {
    const header: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    const { pairCounts, ...options } = header as ShardedBloomOptions & { readonly pairCounts: unknown }
    if (!isPairCounts(pairCounts)) throw reader.corrupt('expected the number of ids by number of pairs')
    return { parameters: parametersOf(options), pairCounts: new Map(pairCounts) }
  } catch (cause) {
    throw new PetalError('DataCorruption', `Damaged ${WHAT}: its header is invalid`, { cause })
  }
}

function isPairCounts(counts: unknown): counts is readonly (readonly [pairs: number, ids: number])[] {
  return (
    Array.isArray(counts) &&
    counts.every(
      (count) =>
        Array.isArray(count) && count.length === 2 && count.every((part) => Number.isSafeInteger(part) && part >= 0)
    )
  )
}

/** Runs before anything of the claimed size is allocated. */
function checkLengths(
  { shards, bits, counting, tail }: Parameters,
  used: number,
  kept: number,
  reader: ByteReader
): void {
  const usedBytes = BitRows.serialisedBytes(1, bits, counting)
  if (used !== usedBytes) throw reader.corrupt(`expected ${usedBytes} bytes of positions in use, got ${used}`)
  if (tail === 'bloom') {
    const rowBytes = BitRows.serialisedBytes(shards, bits, counting)
    if (kept !== rowBytes) throw reader.corrupt(`expected ${rowBytes} bytes of rows, got ${kept}`)
  } else if (kept < shards) throw reader.corrupt(`${kept} bytes are too few for ${shards} buckets`)
}
