/**
 * Bytes → units of whole lines.
 *
 * Invariant: units, one behind the other and then the rest, are the bytes that came.
 */
import type { LoadUnit } from './load-unit.ts'

const lineFeed = 0x0a
/** By one call. */
const maxTakenBytes = 256 << 10
/** Fewer lines than these in so many bytes are too long for a unit. */
const fewLines = 256
const manyBytes = 16 << 20
const empty = Buffer.from(new SharedArrayBuffer(0))

export class UnitCollector {
  /** Of a unit. */
  readonly lines: number
  readonly #maxBytes: number
  readonly #maxLineBytes: number
  /** Memory of units before. */
  readonly #idle: SharedArrayBuffer[] = []
  #bytes: Buffer = empty
  #length = 0
  /** Lines that have ended, and where the last one did. */
  #ended = 0
  #endedAt = 0

  /**
   * @param lines of a unit
   * @param maxBytes of a unit
   * @param maxLineBytes of a line that is imported
   */
  constructor(lines: number, maxBytes: number, maxLineBytes: number) {
    this.lines = lines
    this.#maxBytes = maxBytes
    this.#maxLineBytes = maxLineBytes
  }

  /** A unit has as many lines as it should. */
  get isFull(): boolean {
    return this.#ended === this.lines
  }

  /** It has not, and its lines are too long for a unit, or one of them for an import. */
  get isOver(): boolean {
    const isFew = this.#ended < fewLines && this.#length > manyBytes
    return isFew || this.#length > this.#maxBytes || this.#length - this.#endedAt > this.#maxLineBytes
  }

  /** Takes bytes until a unit is full, a fraction of a millisecond's work at most. @returns what it did not take */
  take(chunk: Uint8Array): Uint8Array {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, maxTakenBytes))
    let end = 0
    while (this.#ended < this.lines) {
      const feed = bytes.indexOf(lineFeed, end)
      if (feed < 0) {
        end = bytes.length
        break
      }
      end = feed + 1
      this.#ended++
      this.#endedAt = this.#length + end
    }
    this.#keep(bytes.subarray(0, end))
    return chunk.subarray(end)
  }

  /** What was collected; the next bytes begin another unit. */
  unit(): LoadUnit {
    const unit = { bytes: this.#bytes.buffer as SharedArrayBuffer, length: this.#length }
    this.#bytes = empty
    this.#length = 0
    this.#ended = 0
    this.#endedAt = 0
    return unit
  }

  /** As unit(), of what is to be imported in another way. */
  end(): Uint8Array {
    const { bytes, length } = this.unit()
    return new Uint8Array(bytes, 0, length)
  }

  /** A unit's memory, of no more use. */
  giveBack(bytes: SharedArrayBuffer): void {
    this.#idle.push(bytes)
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return
    if (this.#length === 0) this.#bytes = Buffer.from(this.#idle.pop() ?? this.#allocate())
    this.#bytes.set(part, this.#length)
    this.#length += part.length
  }

  /** For any unit: pages that are never written to take no memory. */
  #allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(this.#maxBytes + maxTakenBytes)
  }
}
