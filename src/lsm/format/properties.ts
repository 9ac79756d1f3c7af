/** A table's own metadata, for people and for repair: JSON in the section `table.properties`. */
import { corruption } from '../errors.ts'

export interface TableProperties {
  readonly entries: number
  readonly tombstones: number
  /** Bytes of keys and values before prefix compression and codec. */
  readonly rawBytes: number
  readonly smallestSequence: number
  readonly largestSequence: number
  readonly blocks: number
  /** Bytes of the data blocks in the file. */
  readonly dataBytes: number
  /** Number of compressed data blocks. */
  readonly compressedBlocks: number
}

const names = [
  'entries',
  'tombstones',
  'rawBytes',
  'smallestSequence',
  'largestSequence',
  'blocks',
  'dataBytes',
  'compressedBlocks'
] as const satisfies readonly (keyof TableProperties)[]

export function writeProperties(properties: TableProperties): Uint8Array {
  return Buffer.from(JSON.stringify(properties), 'latin1')
}

/** @throws LEVEL_CORRUPTION if a number is missing or invalid; fields of later versions are ignored */
export function readProperties(bytes: Uint8Array, path: string): TableProperties {
  const found = parse(bytes, path)
  for (const name of names) {
    const value = found[name]
    if (!Number.isSafeInteger(value) || (value as number) < 0) {
      throw corruption(`the properties have the invalid value ${String(value)} for ${name}`, { path })
    }
  }
  // Checked just now.
  return found as unknown as TableProperties
}

function parse(bytes: Uint8Array, path: string): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = JSON.parse(Buffer.from(bytes).toString('latin1'))
    if (typeof found === 'object' && found !== null) return found as Readonly<Record<string, unknown>>
  } catch (cause) {
    throw corruption('the properties are not JSON', { path }, cause)
  }
  throw corruption('the properties are not an object', { path })
}
