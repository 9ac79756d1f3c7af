/** Bytes, entries and damage as lines that a person can read. */
import { EntryKind, type EntryRanges } from '../../format/entry.ts'

export interface DumpOptions {
  /** Entries of a table, or operations of a log, that are printed; what comes behind is only counted. Default 1,000. */
  readonly limit?: number | undefined
  /** Bytes of a key or value that are printed. Default 64. */
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

  /** Printable ASCII in quotes, other bytes in hexadecimal; longer ones are cut off. */
  quoted(bytes: Uint8Array, start = 0, end = bytes.length): string {
    const shown = Math.min(end, start + this.#maxBytes)
    let text = ''
    for (let at = start; at < shown; at++) text += readable(bytes[at] ?? 0)
    return shown < end ? `"${text}"… (${count(end - start, 'byte')})` : `"${text}"`
  }

  /** An entry of a table or an operation of a log; nothing beyond the limit. */
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

  /** What the limit left out since the last call. */
  *omitted(): Generator<string, void> {
    if (this.#omitted > 0) yield `  … ${this.#omitted} more`
    this.#omitted = 0
  }
}

export function count(number: number, what: string, several = `${what}s`): string {
  return `${number} ${number === 1 ? what : several}`
}

/** Damage stands out by its first character. */
export function damage(error: unknown): string {
  return `! ${error instanceof Error ? error.message : String(error)}`
}

function readable(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`
}
