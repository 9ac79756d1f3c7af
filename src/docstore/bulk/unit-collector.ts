/**
 * Bytes, or records, → units of whole lines.
 *
 * Invariant: units, one behind the other and then the rest, are the bytes that came.
 */
import { copyShared } from '../../model/copy-bytes.ts'
import type { LineKind, LoadUnit } from './load-unit.ts'
import { takeUnitMemory } from './unit-memory.ts'

const lineFeed = 0x0a
/** By one call. */
const maxTakenBytes = 256 << 10
/** Fewer lines than these in so many bytes are too long for a unit. */
const fewLines = 256
const manyBytes = 16 << 20
const empty = Buffer.from(new SharedArrayBuffer(0))

export class UnitCollector {
  /** Of a unit. */
  #lines: number
  readonly #kind: LineKind
  readonly #maxBytes: number
  readonly #maxLineBytes: number
  #bytes: Buffer = empty
  #length = 0
  /** Lines that have ended, and where the last one did. */
  #ended = 0
  #endedAt = 0
  #hasRoom = true

  /**
   * @param lines of a unit
   * @param maxBytes of a unit
   * @param maxLineBytes of a line that is imported
   */
  constructor(kind: LineKind, lines: number, maxBytes: number, maxLineBytes: number) {
    this.#kind = kind
    this.#lines = lines
    this.#maxBytes = maxBytes
    this.#maxLineBytes = maxLineBytes
  }

  /** A unit has as many lines as it should. */
  get isFull(): boolean {
    return this.#ended >= this.#lines
  }

  /** A unit is to have so many lines, as far as it has no more yet: all of one that has begun will be in it. */
  aim(lines: number): void {
    const isOneBegun = this.#length > this.#endedAt
    this.#lines = Math.max(lines, isOneBegun ? this.#ended + 1 : 1)
  }

  /** Lines that have ended. */
  get ended(): number {
    return this.#ended
  }

  /** Bytes of these. */
  get endedAt(): number {
    return this.#endedAt
  }

  /** Of what was collected. */
  get length(): number {
    return this.#length
  }

  /** It has not, and its lines are too long for a unit, or one of them for an import; or there is no memory for it. */
  get isOver(): boolean {
    if (!this.#hasRoom) return true
    const isFew = this.#ended < fewLines && this.#length > manyBytes
    return isFew || this.#length > this.#maxBytes || this.#length - this.#endedAt > this.#maxLineBytes
  }

  /** Takes bytes until a unit is full, a fraction of a millisecond's work at most. @returns what it did not take */
  take(chunk: Uint8Array): Uint8Array {
    if (this.#length === 0) this.#begin()
    if (!this.#hasRoom) return chunk
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, maxTakenBytes))
    let end = 0
    while (this.#ended < this.#lines) {
      const feed = bytes.indexOf(lineFeed, end)
      if (feed < 0) {
        end = bytes.length
        break
      }
      end = feed + 1
      this.#ended++
      this.#endedAt = this.#length + end
    }
    copyShared(bytes.subarray(0, end), this.#bytes, this.#length)
    this.#length += end
    return chunk.subarray(end)
  }

  /** Takes a line without its end; none is in it. False where there is no room for it. */
  put(line: Uint8Array): boolean {
    if (this.#length === 0) this.#begin()
    const end = this.#length + line.length
    if (!this.#hasRoom || end >= this.#bytes.length) {
      this.#hasRoom = false
      return false
    }
    copyShared(line, this.#bytes, this.#length)
    this.#bytes[end] = lineFeed
    this.#length = end + 1
    this.#ended++
    this.#endedAt = this.#length
    return true
  }

  /** Takes the bytes behind the last whole line back. */
  cut(): Uint8Array {
    const bytes = new Uint8Array(this.#bytes.subarray(this.#endedAt, this.#length))
    this.#length = this.#endedAt
    return bytes
  }

  /** What was collected, be it full or not; the next bytes begin another unit. */
  unit(): LoadUnit {
    const bytes = this.#bytes.buffer as SharedArrayBuffer
    const unit = { kind: this.#kind, bytes, length: this.#length, lines: this.#ended }
    this.#bytes = empty
    this.#length = 0
    this.#ended = 0
    this.#endedAt = 0
    this.#hasRoom = true
    return unit
  }

  #begin(): void {
    if (this.#bytes.length > 0) return
    const memory = takeUnitMemory(this.#maxBytes + maxTakenBytes)
    if (memory === undefined) this.#hasRoom = false
    else this.#bytes = Buffer.from(memory)
  }
}
