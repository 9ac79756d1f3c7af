/** Formats bytes, entries and damage as readable lines. */
import { EntryKind, type EntryRanges } from '../../format/entry.ts'

export interface DumpOptions {
  /** Entries of a table, or operations of a log, to print; further ones are only counted. Default 1,000. */
  readonly limit?: number | undefined
  /** Bytes of a key or value to print. Default 64. */
  readonly maxBytes?: number | undefined
}

export class DumpText {
  readonly #maxBytes: number
  #left: number
  #omitted = 0

  constructor({ limit = 1000, maxBytes = 64 }: DumpOptions) {
    this.#left = limit
    this.#maxBytes = maxBytes
  }

  /** Printable ASCII in quotes, other bytes in hexadecimal; truncated to maxBytes. */
  quoted(bytes: Uint8Array, start = 0, end = bytes.length): string {
    const shown = Math.min(end, start + this.#maxBytes)
    let text = ''
    for (let at = start; at < shown; at++) text += readable(bytes[at] ?? 0)
    return shown < end ? `"${text}"… (${count(end - start, 'byte')})` : `"${text}"`
  }

  /** An entry of a table or an operation of a log; yields nothing beyond the limit. */
  *entry(entry: EntryRanges): Generator<string, void> {
    const { keyBytes, keyStart, keyEnd, sequence, kind, valueBytes, valueStart, valueEnd } = entry
    if (this.#left <= 0) {
      this.#omitted++
      return
    }
    this.#left--
    const key = `  ${this.quoted(keyBytes, keyStart, keyEnd)} @${sequence}`
    yield kind === EntryKind.tombstone ? `${key} deleted` : `${key} = ${this.quoted(valueBytes, valueStart, valueEnd)}`
  }

  /** The number of entries omitted since the last call, if any. */
  *omitted(): Generator<string, void> {
    if (this.#omitted > 0) yield `  … ${this.#omitted} more`
    this.#omitted = 0
  }
}

export function count(number: number, what: string, several = `${what}s`): string {
  return `${number} ${number === 1 ? what : several}`
}

/** Damage is marked by its first character. */
export function damage(error: unknown): string {
  return `! ${error instanceof Error ? error.message : String(error)}`
}

function readable(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`
}
