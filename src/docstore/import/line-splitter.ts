/**
 * Splits a stream of bytes into lines.
 *
 * Invariants:
 * 1. At most `maxLineBytes` and one chunk are held: a longer line is counted, not kept.
 * 2. Lines are numbered from 1, as in an editor; `\n` and `\r\n` end a line, and a byte order mark at the very
 *    beginning is not part of the first line.
 */
import { isUtf8 } from 'node:buffer'

export type Line =
  | {
      readonly kind: 'line'
      readonly number: number
      readonly bytes: Uint8Array
      /** Known to be valid UTF-8, because all whole lines of its chunk are; otherwise it has to be checked. */
      readonly isUtf8: boolean
    }
  | { readonly kind: 'tooLong'; readonly number: number; readonly length: number }

/** Larger chunks are not checked as a whole: that would take milliseconds. */
const maxTestedBytes = 4 * 1024 * 1024
const lineFeed = 0x0a
const carriageReturn = 0x0d
const byteOrderMark = [0xef, 0xbb, 0xbf] as const

export class LineSplitter {
  readonly #maxLineBytes: number
  /** Start of a line whose end has not arrived yet; empty while the line is too long. */
  #parts: Uint8Array[] = []
  #length = 0
  #number = 0
  /** The last chunk, and where the next line starts in it. */
  #chunk: Uint8Array = new Uint8Array(0)
  #at = 0

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes
  }

  /**
   * Yields the lines that end in this chunk, as views of it: it must not change while they are used. A caller that does
   * not take all of them must call takeRest().
   */
  push(chunk: Uint8Array): Generator<Line, void, undefined> {
    this.#chunk = chunk
    this.#at = 0
    return this.#lines()
  }

  /** Returns the bytes after the last line taken from the last chunk, as if they had never been pushed. */
  takeRest(): Uint8Array {
    const rest = this.#chunk.subarray(this.#at)
    if (this.#at > 0 || this.#length === 0) return rest
    const whole = Buffer.concat([...this.#parts, rest])
    this.#parts = []
    this.#length = 0
    return whole
  }

  /** Counts lines that were processed elsewhere. */
  skipLines(lines: number): void {
    this.#number += lines
  }

  *#lines(): Generator<Line, void, undefined> {
    const chunk = this.#chunk
    // A Buffer is searched and validated natively.
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    let end = buffer.indexOf(lineFeed)
    if (end >= 0 && (this.#length > 0 || this.#number === 0)) {
      this.#keep(chunk.subarray(0, end))
      this.#at = end + 1
      yield this.#take()
      end = buffer.indexOf(lineFeed, this.#at)
    }
    const isTested = end >= 0 && chunk.length <= maxTestedBytes
    const areUtf8 = isTested && isUtf8(buffer.subarray(this.#at, buffer.lastIndexOf(lineFeed)))
    for (; end >= 0; end = buffer.indexOf(lineFeed, this.#at)) {
      const start = this.#at
      this.#at = end + 1
      yield this.#line(buffer, start, end, areUtf8)
    }
    if (this.#at < chunk.length) this.#keep(chunk.subarray(this.#at))
    this.#at = chunk.length
  }

  /** Yields the last line if it has no line feed. */
  *end(): Generator<Line, void, undefined> {
    if (this.#length > 0) yield this.#take()
  }

  #keep(part: Uint8Array): void {
    this.#length += part.length
    if (this.#length <= this.#maxLineBytes) this.#parts.push(part)
    else this.#parts = []
  }

  #take(): Line {
    const number = ++this.#number
    const length = this.#length
    const parts = this.#parts
    this.#parts = []
    this.#length = 0
    if (length > this.#maxLineBytes) return { kind: 'tooLong', number, length }
    const whole = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    const from = number === 1 && byteOrderMark.every((byte, i) => whole[i] === byte) ? byteOrderMark.length : 0
    const to = whole.at(-1) === carriageReturn ? whole.length - 1 : whole.length
    const bytes = from === 0 && to === whole.length ? whole : whole.subarray(from, to)
    return { kind: 'line', number, bytes, isUtf8: false }
  }

  /** A line that is entirely in its chunk, and not the first. */
  #line(chunk: Buffer, start: number, end: number, areUtf8: boolean): Line {
    const number = ++this.#number
    if (end - start > this.#maxLineBytes) return { kind: 'tooLong', number, length: end - start }
    const length = end - start - (end > start && chunk[end - 1] === carriageReturn ? 1 : 0)
    // Not subarray(), which creates a Buffer and takes several times as long.
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset + start, length)
    return { kind: 'line', number, bytes, isUtf8: areUtf8 }
  }
}
