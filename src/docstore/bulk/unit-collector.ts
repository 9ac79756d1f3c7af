/**
 * Collects bytes or records into units of whole lines.
 *
 * Invariant: all units, followed by the remaining bytes, concatenate to the input.
 */
import { copyShared } from '../../model/copy-bytes.ts'
import type { LineKind, LoadUnit } from './load-unit.ts'
import { acquireUnitMemory } from './unit-memory.ts'

const lineFeed = 0x0a
/** Maximum number of bytes taken by one call. */
const maxTakenBytes = 256 << 10
/** If `manyBytes` contain fewer lines than this, the lines are too long for a unit. */
const fewLines = 256
const manyBytes = 16 << 20
const noMemory = new SharedArrayBuffer(0)
const noBytes = Buffer.from(noMemory)
const noEnds = new Uint32Array(noMemory)

export class UnitCollector {
  /** Number of lines in a unit, and the greatest that it may be. */
  #lines: number
  readonly #maxLines: number
  readonly #kind: LineKind
  readonly #maxBytes: number
  readonly #maxLineBytes: number
  #bytes = noBytes
  /** End of each complete line, after its line feed. */
  #ends = noEnds
  #length = 0
  /** Number of complete lines, and the end of the last one. */
  #completeLines = 0
  #completeBytes = 0
  #hasRoom = true

  /**
   * @param lines of a unit, at first and at most
   * @param maxBytes of a unit
   * @param maxLineBytes of an importable line
   */
  constructor(kind: LineKind, lines: number, maxBytes: number, maxLineBytes: number) {
    this.#kind = kind
    this.#lines = lines
    this.#maxLines = lines
    this.#maxBytes = maxBytes
    this.#maxLineBytes = maxLineBytes
  }

  /** The unit has all of its lines. */
  get isFull(): boolean {
    return this.#completeLines >= this.#lines
  }

  /** Sets the number of lines after which the unit is full. A line that has been started always belongs to the unit. */
  setTarget(lines: number): void {
    const isOneBegun = this.#length > this.#completeBytes
    this.#lines = Math.min(this.#maxLines, Math.max(lines, isOneBegun ? this.#completeLines + 1 : 1))
  }

  /** Number of complete lines. */
  get completeLines(): number {
    return this.#completeLines
  }

  /** Bytes of the complete lines. */
  get completeBytes(): number {
    return this.#completeBytes
  }

  /** Number of collected bytes. */
  get length(): number {
    return this.#length
  }

  /**
   * The unit cannot be filled: its lines are too long for a unit, one of them is too long for an import, or there is no
   * memory.
   */
  get isUnfillable(): boolean {
    if (!this.#hasRoom) return true
    const isFew = this.#completeLines < fewLines && this.#length > manyBytes
    return isFew || this.#length > this.#maxBytes || this.#length - this.#completeBytes > this.#maxLineBytes
  }

  /** Takes bytes until the unit is full, limited to a fraction of a millisecond's work. @returns the bytes not taken */
  take(chunk: Uint8Array): Uint8Array {
    if (this.#length === 0) this.#begin()
    if (!this.#hasRoom) return chunk
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, maxTakenBytes))
    let end = 0
    while (this.#completeLines < this.#lines) {
      const feed = bytes.indexOf(lineFeed, end)
      if (feed < 0) {
        end = bytes.length
        break
      }
      end = feed + 1
      this.#completeBytes = this.#length + end
      this.#ends[this.#completeLines++] = this.#completeBytes
    }
    copyShared(bytes.subarray(0, end), this.#bytes, this.#length)
    this.#length += end
    return chunk.subarray(end)
  }

  /** Takes a line without line feeds. False if there is no room for it. */
  put(line: Uint8Array): boolean {
    if (this.#length === 0) this.#begin()
    const end = this.#length + line.length
    if (!this.#hasRoom || end >= this.#bytes.length || this.#completeLines === this.#maxLines) {
      this.#hasRoom = false
      return false
    }
    copyShared(line, this.#bytes, this.#length)
    this.#bytes[end] = lineFeed
    this.#length = end + 1
    this.#completeBytes = this.#length
    this.#ends[this.#completeLines++] = this.#length
    return true
  }

  /** Removes and returns the bytes after the last complete line. */
  takePartialLine(): Uint8Array {
    const bytes = new Uint8Array(this.#bytes.subarray(this.#completeBytes, this.#length))
    this.#length = this.#completeBytes
    return bytes
  }

  /** Returns what was collected, whether full or not; the next bytes start another unit. */
  unit(): LoadUnit {
    const bytes = new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset, this.#length)
    const ends = this.#ends.subarray(0, this.#completeLines)
    const unit = { kind: this.#kind, bytes, ends }
    this.#bytes = noBytes
    this.#ends = noEnds
    this.#length = 0
    this.#completeLines = 0
    this.#completeBytes = 0
    this.#hasRoom = true
    return unit
  }

  #begin(): void {
    if (this.#bytes.length > 0) return
    const endsBytes = 4 * this.#maxLines
    const memory = acquireUnitMemory(endsBytes + this.#maxBytes + maxTakenBytes)
    if (memory === undefined) {
      this.#hasRoom = false
      return
    }
    this.#ends = new Uint32Array(memory, 0, this.#maxLines)
    this.#bytes = Buffer.from(memory, endsBytes)
  }
}
