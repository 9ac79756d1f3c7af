/**
 * Bytes → units of whole lines.
 *
 * Invariant: units, one behind the other and then the rest, are the bytes that came.
 */
import type { LoadUnit } from './load-unit.ts'

const lineFeed = 0x0a
const firstBytes = 1 << 20
/** By one call. */
const maxTakenBytes = 256 << 10
/** So many tell how long the others are. */
const minLinesToExpect = 256
const empty = Buffer.from(new SharedArrayBuffer(0))

export class UnitCollector {
  /** Of a unit. */
  readonly lines: number
  readonly #maxBytes: number
  /** Memory of units before. */
  readonly #idle: SharedArrayBuffer[] = []
  #bytes: Buffer = empty
  #length = 0
  /** Lines that have ended. */
  #ended = 0
  /** Of the last unit that was full. */
  #usualBytes: number | undefined

  /**
   * @param lines of a unit
   * @param maxBytes of a unit
   */
  constructor(lines: number, maxBytes: number) {
    this.lines = lines
    this.#maxBytes = maxBytes
  }

  /** A unit has as many lines as it should. */
  get isFull(): boolean {
    return this.#ended === this.lines
  }

  /** It has not, and there is no room for more: its lines are too long for a unit. */
  get isOver(): boolean {
    return this.#length > this.#maxBytes
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
    }
    this.#keep(bytes.subarray(0, end))
    return chunk.subarray(end)
  }

  /** What was collected; the next bytes begin another unit. */
  unit(): LoadUnit {
    const unit = { bytes: this.#bytes.buffer as SharedArrayBuffer, length: this.#length }
    if (this.isFull) this.#usualBytes = this.#length
    this.#bytes = empty
    this.#length = 0
    this.#ended = 0
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
    const length = this.#length + part.length
    if (length > this.#bytes.length) this.#grow(length)
    this.#bytes.set(part, this.#length)
    this.#length = length
  }

  #grow(length: number): void {
    const idle = this.#length === 0 ? this.#idle.pop() : undefined
    const larger = Buffer.from(idle !== undefined && idle.byteLength >= length ? idle : this.#allocate(length))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }

  /** At least that many bytes: what a unit will have of lines as long as those so far, and some more. */
  #allocate(length: number): SharedArrayBuffer {
    const lines = Math.max(1, this.#ended)
    const whole = this.#usualBytes ?? (length / lines) * this.lines
    const expected = lines < minLinesToExpect ? firstBytes : Math.min(whole, this.#maxBytes)
    return new SharedArrayBuffer(Math.ceil(Math.max(length + length / 4, expected + expected / 32)))
  }
}
